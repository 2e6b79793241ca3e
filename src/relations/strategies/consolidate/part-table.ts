import { hasShownChanges } from '../../state/state-of.js'
import type { KeyValue } from '../../../keys/index.js'
import { userKeyId } from '../../../plan/record-key.js'
import type { MapKey, Value } from '../../../plan/value.js'
import type { CollectionState } from '../../state/collection-state.js'
import type { Tracked } from '../../contract/tracked.js'
import type { Reader } from '../../contract/reader.js'
import { isCreation, isEntity, type Member } from '../../contract/member.js'
import { wrongClass } from '../../contract/relation-errors.js'
import { REMEMBER } from '../../state/remember-fields.js'
import { attachPart } from './attach-part.js'
import { splitByCap } from './cap.js'
import { compareKeys } from './key-order.js'
import type { PartClass } from './part-class.js'
import { holdPart, settlePart, type PartHolder, type PlacedPart, type RootParts } from './part-holders.js'
import type { OrderValues } from './part-order.js'
import { knownBelow } from './part-tree.js'
import { refillPart } from './refill-part.js'
import { RecordedChanges } from './recorded-changes.js'
import { SentParts } from './sent-parts.js'
import { UnsentChanges } from './unsent-changes.js'

/** A part as it is stored, as far as the session knows. */
export interface KnownPart {
  readonly part: object
  readonly id: KeyValue
  snapshot: object
  /** Key of the part in the stored map. */
  place: MapKey
  /** Values of the part in the further orders when it was stored. */
  orderValues: readonly OrderValues[]
  /** Children inside it that are taken out only once they are stored in another record. */
  readonly keeps?: ReadonlySet<object>
}

/** Parts that a session knows of one consolidated collection. Added and removed parts are in the collection's state. */
export class PartTable implements PartHolder, RootParts {
  readonly state: CollectionState
  readonly parts: PartClass
  readonly owner: Tracked
  /** The children are in companion records. */
  readonly isApart: boolean
  /** All stored parts are known. */
  isLoaded = false
  readonly #known = new Map<string, KnownPart>()
  /** Instances that were known before the record is read again: people may hold them. */
  #former: ReadonlyMap<string, KnownPart> | undefined
  /** Known parts that a cap may have dropped: the server is asked again whether they exist. */
  readonly #unsure = new Set<string>()
  readonly reader: Reader
  /** Changes that handles recorded, where the owner's own write does not carry them. */
  readonly recorded = new RecordedChanges()
  readonly unsent = new UnsentChanges()
  /** Parts whose write is under way. */
  readonly sent = new SentParts()

  constructor(state: CollectionState, parts: PartClass, owner: Tracked, reader: Reader) {
    this.state = state
    this.parts = parts
    this.owner = owner
    this.isApart = parts.relation.companions !== undefined
    this.reader = reader
    for (const member of state.added) {
      // Without a session an added part was not given an id.
      state.mark(member, undefined)
      this.include(member)
    }
  }

  get table(): this {
    return this
  }

  /** Nothing is stored that is not known here. */
  get isComplete(): boolean {
    return this.isLoaded || this.owner.state === 'new'
  }

  /** Cheap while nothing changed: a comparison for each field of each known part. */
  get isChanged(): boolean {
    if (hasShownChanges(this.state) || !this.recorded.isEmpty || this.unsent.isEdited) return true
    const { codec } = this.parts
    for (const known of this.#known.values()) if (!codec.same(known.part, known.snapshot)) return true
    return false
  }

  /** Stored parts that were changed here, and are neither removed nor replaced. */
  *changed(): Iterable<KnownPart> {
    const { codec } = this.parts
    for (const known of this.kept()) if (!codec.same(known.part, known.snapshot)) yield known
  }

  /** Stored parts that are neither removed nor replaced. */
  *kept(): Iterable<KnownPart> {
    for (const known of this.#known.values()) if (!this.state.isMarked(known.id)) yield known
  }

  check(member: Member): void {
    if (isEntity(member) && !this.parts.accepts(member)) throw wrongClass(this.owner, this.parts.relation, member)
  }

  include(member: Member): void {
    if (!isEntity(member)) throw this.parts.bareKey(member)
    this.check(member)
    this.parts.prepare(member, this.owner, this.reader)
    attachPart(member, this, false)
    holdPart(member, this)
    const known = this.#find(member)
    // A part with the same id takes the place of the one that is there.
    if (known?.part !== member || !this.isSure(known.id)) this.state.mark(member, 'added')
    else if (this.state.isRemoved(member)) this.state.mark(member, undefined)
  }

  exclude(given: Member): void {
    const member = isEntity(given) ? given : this.parts.checkedId(given)
    const wasAdded = this.state.isAdded(member)
    if (wasAdded) this.state.mark(member, undefined)
    // Of a record that is not there yet nothing can be taken out; in one that is, others may have put it meanwhile.
    const mayBeStored = !isCreation(this.owner) && !(this.isLoaded && wasAdded)
    if (this.#find(member) !== undefined || mayBeStored) this.state.mark(member, 'removed')
  }

  /** True while the part is to be stored in this collection. */
  holds(part: object): boolean {
    return this.state.isAdded(part)
  }

  /** The known part with that id. */
  known(id: KeyValue): KnownPart | undefined {
    return this.#known.get(userKeyId(id))
  }

  /** The part as the session sees it: undefined when only the server can tell. */
  find(id: KeyValue): object | null | undefined {
    if (this.state.isRemoved(id)) return null
    const member = this.state.findAdded(id)
    if (member !== undefined) return member as object
    if (!this.isSure(id)) return undefined
    return this.known(id)?.part ?? (this.isComplete ? null : undefined)
  }

  /** The server was asked for these, which were known then: those that were not among its answers are no longer there. */
  asked(before: readonly KnownPart[]): void {
    for (const known of before) if (!this.isSure(known.id) && this.known(known.id) === known) this.forget(known.id)
  }

  /** A write has let the server drop what there is no room for, and not all that is there is known here. */
  becomeUnsure(): void {
    for (const id of this.#known.keys()) this.#unsure.add(id)
  }

  /** Takes over all parts as they were read, into the instances that were known before. */
  load(stored: Value | undefined): void {
    for (const value of this.parts.valuesIn(stored, this.owner)) this.take(value)
    this.#former = undefined
    this.isLoaded = true
  }

  /** Takes over all parts, but those that are known already stay as they are here. */
  loadMore(...stored: readonly (Value | undefined)[]): void {
    for (const each of stored) for (const value of this.parts.valuesIn(each, this.owner)) this.take(value)
    for (const id of this.#unsure) this.#known.delete(id)
    this.#unsure.clear()
    this.isLoaded = true
  }

  /** Takes over a part that was read; one that is known already stays. */
  take(stored: Value): object {
    const read = this.parts.decode(stored, this.owner)
    const id = this.parts.idOf(read)
    const known = this.known(id)
    this.#unsure.delete(userKeyId(id))
    if (known !== undefined) {
      this.unsent.editIn(id, known.part)
      return known.part
    }
    const former = this.#former?.get(userKeyId(id))
    const part = former?.part ?? read
    if (former !== undefined) refillPart(former, this.parts.codec, stored, read)
    attachPart(part, this, true)
    this.#know(part, id)
    if (this.unsent.showIn(id, part)) this.known(id)!.snapshot = this.parts.codec.snapshot(part)
    this.unsent.editIn(id, part)
    return part
  }

  /** The part is stored as it was when it was sent; what was done to it since is still to be sent. */
  confirm(known: KnownPart, wasAdded: boolean): void {
    this.#known.set(userKeyId(known.id), known)
    for (const part of knownBelow(this.parts.codec, known.snapshot)) settlePart(part, this)
    if (!wasAdded) return
    const now = this.state.findAdded(known.id)
    if (now === known.part) this.state.mark(known.part, undefined)
    else if (now === undefined) this.state.mark(known.part, 'removed')
  }

  forget(id: KeyValue): void {
    this.#known.delete(userKeyId(id))
    this.#unsure.delete(userKeyId(id))
  }

  /** Drops parts that were only looked at; those that were changed stay. */
  release(ids: readonly KeyValue[]): void {
    if (this.isLoaded) return
    for (const id of ids) {
      const known = this.known(id)
      if (known !== undefined && this.parts.codec.same(known.part, known.snapshot)) this.forget(id)
    }
  }

  /** All of it has to be stored anew, under another session. */
  startAnew(): void {
    for (const { part } of [...this.kept()]) this.state.mark(part, 'added')
    this.reset()
  }

  /** Returns a function that restores the current state. */
  [REMEMBER](): () => void {
    const { isLoaded } = this
    const known = [...this.#known].map(([id, each]) => [id, { ...each }] as const)
    const unsure = [...this.#unsure]
    const restores = [this.recorded.remember(), this.unsent.remember()]
    return () => {
      for (const restore of restores) restore()
      this.#known.clear()
      this.#unsure.clear()
      for (const id of unsure) this.#unsure.add(id)
      for (const [id, each] of known) this.#known.set(id, each)
      this.isLoaded = isLoaded
    }
  }

  reset(): void {
    this.#former = new Map(this.#known)
    this.recorded.clear()
    this.unsent.clear()
    this.#known.clear()
    this.#unsure.clear()
    this.isLoaded = false
  }

  /** True while unsent additions may push others out: the cap is applied when they are stored. */
  get isCapped(): boolean {
    return this.parts.relation.cap !== undefined && this.state.added.length > 0
  }

  /** Parts that the cap will keep once the additions are stored. */
  capped<T>(ordered: readonly T[]): readonly T[] {
    return this.isCapped ? splitByCap(ordered, this.parts.relation.cap!)[0] : ordered
  }

  /** Number of stored parts that are known. */
  get knownCount(): number {
    return this.#known.size
  }

  /** Everything that is known to be in the collection, in its order. */
  placed(): readonly PlacedPart[] {
    return this.capped(this.given())
  }

  /** All known parts in order, including those that the cap will drop. */
  given(): PlacedPart[] {
    const all: PlacedPart[] = []
    for (const { part } of this.kept()) all.push({ part, place: this.parts.placeOf(part) })
    for (const part of this.state.addedEntities) all.push({ part, place: this.parts.placeOf(part) })
    return all.sort((a, b) => compareKeys(a.place, b.place))
  }

  /** False where a cap may have dropped the part: only the server can tell. */
  isSure(id: KeyValue): boolean {
    return this.#unsure.size === 0 || !this.#unsure.has(userKeyId(id))
  }

  #find(member: Member): KnownPart | undefined {
    const id = isEntity(member) ? this.parts.keyOf(member) : member
    return id === null ? undefined : this.known(id)
  }

  #know(part: object, id: KeyValue): void {
    const { parts } = this
    this.#known.set(userKeyId(id), {
      part,
      id,
      snapshot: parts.codec.snapshot(part),
      place: parts.placeOf(part),
      orderValues: parts.orderValuesOf(part),
    })
  }
}
