import { userKeyId } from '../../../plan/record-key.js'
import type { KeyValue } from '../../../keys/index.js'
import { isEntity, type Member } from '../../contract/member.js'
import { wrongClass } from '../../contract/relation-errors.js'
import type { Tracked } from '../../contract/tracked.js'
import type { HeldParts } from '../../state/held-parts.js'
import { REMEMBER } from '../../state/remember-fields.js'
import { compareKeys } from './key-order.js'
import type { PartClass } from './part-class.js'
import { holdPart, type PartHolder, type PlacedPart, type RootParts } from './part-holders.js'

/**
 * The children of one part, all of which are at hand: they are read and written with the part. What changed is found by comparing them
 * with the part's snapshot, so that nothing else is noted here.
 */
export class NestedParts implements HeldParts, PartHolder {
  readonly isLoaded = true
  readonly isComplete = true
  readonly table: RootParts
  readonly root: object
  readonly parts: PartClass
  /** Parts that it lies in, outermost first. */
  above: readonly object[]
  readonly #attach: (part: object, above: readonly object[]) => void
  #members = new Map<string, object>()
  /** Members that a plan takes out, and whether it is only shown: then people still see them. */
  readonly #withdrawn = new Map<object, boolean>()

  constructor(
    parts: PartClass,
    table: RootParts,
    above: readonly object[],
    attach: (part: object, above: readonly object[]) => void,
  ) {
    this.parts = parts
    this.table = table
    this.root = above[0]
    this.above = above
    this.#attach = attach
  }

  /** The record that holds the part. */
  get owner(): Tracked {
    return this.table.owner
  }

  get members(): readonly object[] {
    const members = [...this.#members.values()]
    return this.#withdrawn.size === 0 ? members : members.filter((part) => !this.#withdrawn.has(part))
  }

  check(member: Member): void {
    if (isEntity(member) && !this.parts.accepts(member))
      throw wrongClass(this.owner, this.parts.relation, member, this.parts.ownerName)
  }

  include(member: Member): void {
    this.take(member)
    holdPart(member as object, this)
  }

  /** Takes in a child. */
  take(member: Member): void {
    if (!isEntity(member)) throw this.parts.bareKey(member)
    this.check(member)
    this.parts.prepare(member, this.owner, this.table.reader)
    this.#attach(member, this.above)
    this.#withdrawn.delete(member)
    this.#members.set(userKeyId(this.parts.idOf(member)), member)
  }

  exclude(given: Member): void {
    const id = isEntity(given) ? this.parts.keyOf(given) : this.parts.checkedId(given)
    if (id !== null) this.#members.delete(userKeyId(id))
  }

  /** Takes a child out for a plan, and returns what puts it back. */
  withdraw(part: object, isPreview: boolean): () => void {
    this.#withdrawn.set(part, isPreview)
    return () => void this.#withdrawn.delete(part)
  }

  find(id: KeyValue): object | null {
    const part = this.#members.get(userKeyId(id))
    return part === undefined || this.#isHidden(part) ? null : part
  }

  holds(part: object): boolean {
    const id = this.parts.keyOf(part)
    return id !== null && this.#members.get(userKeyId(id)) === part && !this.#withdrawn.has(part)
  }

  /** Everything there is, in its order. */
  placed(): readonly PlacedPart[] {
    const placed: PlacedPart[] = []
    for (const part of this.#members.values())
      if (!this.#isHidden(part)) placed.push({ part, place: this.parts.placeOf(part) })
    return placed.sort((a, b) => compareKeys(a.place, b.place))
  }

  /** Replaces them by what was read. */
  replace(parts: readonly object[]): void {
    this.#members = new Map()
    this.#withdrawn.clear()
    for (const part of parts) this.take(part)
  }

  /** The part that has them is stored anew, and they with it. */
  startAnew(): void {}
  reset(): void {}

  /** Returns a function that restores the current state. */
  [REMEMBER](): () => void {
    const members = [...this.#members]
    return () => void (this.#members = new Map(members))
  }

  #isHidden(part: object): boolean {
    return this.#withdrawn.get(part) === false
  }
}
