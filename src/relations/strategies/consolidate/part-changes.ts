import type { KeyValue } from '../../../keys/index.js'
import { holds, type Guard } from '../../../plan/command.js'
import type { Expression } from '../../../plan/expression.js'
import type { EntryMove, WriteOperation } from '../../../plan/operation.js'
import {
  mapCreate,
  mapKeepRange,
  mapMove,
  mapPutItems,
  mapRemoveFound,
  mapRemoveKeys,
} from '../../../plan/operations.js'
import type { MapKey, Value } from '../../../plan/value.js'
import { splitByCap } from './cap.js'
import type { IndexedPart } from './indexed-refs.js'
import { InverseChanges } from './inverse-changes.js'
import { compareKeys } from './key-order.js'
import { MoveRoom } from './most-moves.js'
import { OrderChanges } from './order-changes.js'
import type { PartClass } from './part-class.js'
import { itemsOf, type PartItems } from './part-items.js'
import type { KnownPart, PartTable } from './part-table.js'
import type { RecordedChange } from './recorded-changes.js'

/** State of a part once the write is confirmed. */
interface Sent {
  readonly known: KnownPart
  readonly wasAdded: boolean
}

/** Everything a flush has to do to one consolidated collection, as operations on its record. */
export class PartChanges {
  readonly #table: PartTable
  readonly #parts: PartClass
  readonly #sent: Sent[] = []
  readonly #removed: KeyValue[] = []
  readonly #puts = new Map<MapKey, Value>()
  readonly #moves: EntryMove[] = []
  readonly #room = new MoveRoom()
  readonly #patches: WriteOperation[] = []
  readonly #ids = new Map<MapKey, Value>()
  /** Ids whose present place only the record knows. */
  readonly #displaced: MapKey[] = []
  readonly #inverse: InverseChanges
  readonly #orders: OrderChanges
  /** New parts that the cap leaves no room for. */
  readonly #dropped: object[] = []
  readonly #recorded: RecordedChange[] = []
  #isWhole = false

  constructor(table: PartTable, inverse: InverseChanges) {
    this.#table = table
    this.#parts = table.parts
    this.#inverse = inverse
    this.#orders = new OrderChanges(table.parts)
  }

  /** The changes of a record that is there, but for children that change their place and for which there is no room: these are returned. */
  gather(): readonly KnownPart[] {
    return this.gatherThese(itemsOf(this.#table))
  }

  /** Only these changes. */
  gatherThese(items: PartItems): readonly KnownPart[] {
    for (const id of items.removed) this.#remove(id)
    this.#recorded.push(...items.recorded)
    const left = this.gatherChanged(items.changed)
    // The part was added when the items were taken; since then it may have been removed again.
    for (const part of items.put) this.#put(part, this.#table.known(this.#parts.idOf(part)), true)
    return left
  }

  /** Only what changed in these. */
  gatherChanged(parts: readonly KnownPart[]): readonly KnownPart[] {
    return parts.filter((known) => {
      const place = this.#parts.placeOf(known.part)
      const isLeft = compareKeys(place, known.place) !== 0 && !this.#room.take(known.place, place)
      if (!isLeft) this.#change(known)
      return isLeft
    })
  }

  /** Number of children that change their place. */
  get moveCount(): number {
    return this.#moves.length
  }

  /** Only that these are taken out. */
  gatherRemoved(ids: readonly KeyValue[]): this {
    for (const id of ids) this.#remove(id)
    return this
  }

  /** All parts of a record that is not there yet, or is to become what is here. */
  gatherAll(): this {
    const { cap } = this.#parts.relation
    const placed = this.#table.given()
    const [kept, dropped] = cap === undefined ? [placed, []] : splitByCap(placed, cap)
    this.#isWhole = true
    for (const { part } of kept) this.#put(part, undefined)
    this.#dropped.push(...dropped.map(({ part }) => part))
    return this
  }

  get isEmpty(): boolean {
    return this.isRemoval && this.#removed.length === 0
  }

  /** Children are only taken out. */
  get isRemoval(): boolean {
    const changes = this.#moves.length + this.#patches.length + this.#recorded.length
    return this.#puts.size === 0 && changes === 0
  }

  get guards(): readonly Guard[] {
    return this.conditions.map((each) => holds(each))
  }

  /** Conditions under which nobody has changed what these children point to. */
  get conditions(): readonly Expression[] {
    return this.#inverse.conditions
  }

  /** The maps get their order and index once, when the record is created. */
  creation(): readonly WriteOperation[] {
    const { bin: name, relation } = this.#parts
    return [
      createMap(name),
      ...put(name, this.#puts),
      ...(relation.sortKeyBin === undefined
        ? []
        : [createMap(relation.sortKeyBin), ...put(relation.sortKeyBin, this.#ids)]),
      ...this.#inverse.creation(),
      ...this.#orders.emptyCreation(),
      ...this.#orders.additions,
    ]
  }

  /** Creates the bins without children, which follow in a later write. */
  emptyCreation(): readonly WriteOperation[] {
    const { bin: name, relation } = this.#parts
    const { sortKeyBin, inverseIndexes = [] } = relation
    const others = inverseIndexes.map(({ bin: inverse }) => inverse)
    return [name, ...(sortKeyBin === undefined ? [] : [sortKeyBin]), ...others]
      .map(createMap)
      .concat(this.#orders.emptyCreation())
  }

  operations(): readonly WriteOperation[] {
    const { bin: name, relation } = this.#parts
    const { sortKeyBin, cap } = relation
    const operations: WriteOperation[] = [...this.#orders.removals]
    if (sortKeyBin === undefined) operations.push(...removeKeys(name, this.#removed))
    // Before anything is put: the record says where they are now.
    else {
      const ids = [...this.#removed, ...this.#displaced]
      if (ids.length > 0) operations.push(mapRemoveFound(name, sortKeyBin, ids))
    }
    // Before anything moves, because they were recorded for the current places of children.
    for (const recorded of this.#recorded) operations.push(...recorded.operations)
    if (this.#moves.length > 0) operations.push(mapMove(name, this.#moves))
    operations.push(...this.#patches, ...put(name, this.#puts))
    if (sortKeyBin !== undefined)
      operations.push(...removeKeys(sortKeyBin, this.#removed), ...put(sortKeyBin, this.#ids))
    operations.push(...this.#inverse.operations(), ...this.#orders.additions)
    if (cap !== undefined && this.#puts.size > 0) {
      const from = cap.by === 'first' ? 0 : -cap.keep
      operations.push(mapKeepRange(name, 'index', from, cap.keep))
      // The values of this map are the places, so their order is that of the parts.
      if (sortKeyBin !== undefined) operations.push(mapKeepRange(sortKeyBin, 'rank', from, cap.keep))
    }
    return operations
  }

  /** The write took effect. */
  confirm(): void {
    const { state } = this.#table
    for (const id of this.#removed) {
      const known = this.#table.known(id)
      this.#table.forget(id)
      // Removed while it was in flight: it has to be stored again.
      if (state.isRemoved(id)) state.mark(id, undefined)
      else if (known !== undefined && !state.isAdded(id)) state.mark(known.part, 'added')
    }
    for (const { known, wasAdded } of this.#sent) {
      this.#table.confirm(known, wasAdded)
      this.#table.sent.confirmed(known)
    }
    for (const recorded of this.#recorded) this.#table.recorded.sent(recorded)
    for (const part of this.#dropped) if (state.isAdded(part)) state.mark(part, undefined)
    if (this.#isWhole) this.#table.isLoaded = true
    this.#dropCapped()
  }

  /** The answer was lost: increments and appends are never sent again. */
  advanceAdded(): void {
    const { codec } = this.#parts
    for (const recorded of this.#recorded) this.#table.recorded.doubted(recorded)
    for (const { known: sent } of this.#sent) {
      const known = this.#table.known(sent.id)
      if (known !== undefined) known.snapshot = codec.advanceAdded(known.snapshot, sent.snapshot) ?? known.snapshot
      this.#table.sent.doubted(sent)
    }
  }

  #remove(id: KeyValue): void {
    this.#removed.push(id)
    this.#inverse.unlink(id, this.#indexed(this.#table.known(id)))
    this.#orders.remove(id)
  }

  #change(known: KnownPart): void {
    const { part, id } = known
    const now = this.#parts.idOf(part)
    if (compareKeys(now, id) !== 0) throw this.#parts.keyChanged(id, now)
    const place = this.#parts.placeOf(part)
    if (compareKeys(place, known.place) !== 0) this.#move(known, place)
    this.#patches.push(...this.#parts.patch({ ...known, place }, this.#table.owner))
    this.#orders.change(id, [known.place, place], known.orderValues, this.#parts.orderValuesOf(part))
    const sent = this.#send(part, id, place, this.#isAdded(part), known)
    this.#inverse.patch(id, this.#indexed(known)!, this.#indexed(sent)!)
  }

  /** The record moves it as it is stored: what others changed in it stays. Fails when it is no longer where this session knew it. */
  #move({ id, place: from }: KnownPart, to: MapKey): void {
    this.#moves.push({ from, to })
    this.#ids.set(id, to)
  }

  #put(part: object, known: KnownPart | undefined, wasAdded = this.#isAdded(part)): void {
    const id = this.#parts.idOf(part)
    const place = this.#parts.placeOf(part)
    this.#puts.set(place, this.#parts.encode(part, this.#table.owner))
    if (this.#parts.sortKey !== undefined) {
      this.#displaced.push(id)
      this.#ids.set(id, place)
    }
    this.#orders.put(id, this.#parts.tuplesOf(part), this.#isWhole)
    const sent = this.#send(part, id, place, wasAdded)
    this.#inverse.replace(id, this.#indexed(known), this.#indexed(sent))
  }

  #indexed(known: KnownPart | undefined): IndexedPart | undefined {
    return known && this.#parts.indexed(known.part, known.snapshot)
  }

  #isAdded(part: object): boolean {
    return this.#table.state.findAdded(this.#parts.idOf(part)) === part
  }

  #send(
    part: object,
    id: KeyValue,
    place: MapKey,
    wasAdded: boolean,
    { keeps, snapshot: before }: Partial<KnownPart> = {},
  ): KnownPart {
    const { codec } = this.#parts
    const now = codec.snapshot(part)
    const known = {
      part,
      id,
      snapshot: keeps === undefined ? now : codec.keepChildren(now, before!, keeps),
      place,
      orderValues: this.#parts.orderValuesOf(part),
    }
    this.#sent.push({ known, wasAdded })
    this.#table.sent.begin(known, before === undefined)
    return known
  }

  /** Drops the parts that the server's cap dropped; in a partly loaded collection only the server knows which. */
  #dropCapped(): void {
    const { cap } = this.#parts.relation
    if (cap === undefined || this.#puts.size === 0) return
    if (!this.#table.isLoaded) return this.#table.becomeUnsure()
    const stored = [...this.#table.kept()].sort((a, b) => compareKeys(a.place, b.place))
    const [, dropped] = splitByCap(stored, cap)
    for (const { id } of dropped) this.#table.forget(id)
  }
}

const createMap = (name: string): WriteOperation => mapCreate(name, 'ordered', true)

function put(name: string, items: ReadonlyMap<MapKey, Value>): readonly WriteOperation[] {
  return items.size === 0 ? [] : [mapPutItems(name, items)]
}

function removeKeys(name: string, keys: readonly MapKey[]): readonly WriteOperation[] {
  return keys.length === 0 ? [] : [mapRemoveKeys(name, keys)]
}
