import { SkeinError } from '../../../errors/index.js'
import { describeKey, type KeyValue } from '../../../keys/index.js'
import type { Draft } from '../../../plan/draft.js'
import { userKeyId } from '../../../plan/record-key.js'
import type { MapKey, Value } from '../../../plan/value.js'
import { InverseChanges } from '../consolidate/inverse-changes.js'
import { PartChanges } from '../consolidate/part-changes.js'
import type { PartClass } from '../consolidate/part-class.js'
import { itemsOf, type PartItems } from '../consolidate/part-items.js'
import type { PartTable } from '../consolidate/part-table.js'
import type { BucketScheme } from '../../buckets/bucket-scheme.js'

/** Dates of children that choose their buckets: which they lead to, and which lead nowhere. */
export class PartDates {
  readonly #scheme: BucketScheme
  readonly #parts: PartClass

  constructor(scheme: BucketScheme, parts: PartClass) {
    this.#scheme = scheme
    this.#parts = parts
  }

  /** Throws where a child has no date, one that leads away from the bucket it is in, or one whose bucket has expired. */
  check(table: PartTable, now: Date): void {
    const shards = this.#scheme.shardsOf(table.owner.key)
    for (const part of table.state.addedEntities) {
      const place = this.#parts.placeOf(part)
      const name = this.#scheme.nameAt(place, shards)
      if (name === undefined)
        throw this.#refused(table, part, 'has no date between the years 0 and 9999', 'Give it one.')
      const expiry = this.#scheme.expiryAt(place, shards)
      if (expiry !== undefined && expiry <= now.getTime())
        throw this.#refused(table, part, `belongs in '${name}', which has expired`, 'Leave it out, or raise ttl.')
      this.#checkSame(table, part, table.known(this.#parts.idOf(part))?.place, place)
    }
    for (const { part, place } of table.changed()) this.#checkSame(table, part, place, this.#parts.placeOf(part))
  }

  /** The value of a new owner's bin: it lists the buckets that its children make. */
  describe(table: PartTable): Value {
    const shards = this.#scheme.shardsOf(table.owner.key)
    const names = table.state.addedEntities.map((part) => this.#scheme.nameAt(this.#parts.placeOf(part), shards)!)
    return this.#scheme.describe(shards, [...new Set(names)].sort())
  }

  /** Ids of children that are removed or replaced unseen: only the buckets can tell where they are. */
  unplaced(table: PartTable): readonly KeyValue[] {
    const { removed } = itemsOf(table)
    const replaced = this.#replaced(table).map((part) => this.#parts.idOf(part))
    return [...removed, ...replaced].filter((id) => table.known(id) === undefined)
  }

  /** Throws where a child replaces one that was removed unseen and is in another bucket. */
  checkReplaced(table: PartTable, places: ReadonlyMap<string, MapKey>): void {
    for (const part of this.#replaced(table))
      this.#checkSame(table, part, places.get(userKeyId(this.#parts.idOf(part))), this.#parts.placeOf(part))
  }

  #replaced({ state }: PartTable): readonly object[] {
    return state.addedEntities.filter((part) => state.isReplaced(part))
  }

  /** Changes to be sent; of children that are in no bucket nothing has to be taken out. */
  placedItems(table: PartTable, places: ReadonlyMap<string, MapKey>, draft: Draft): PartItems {
    const items = itemsOf(table)
    const isPlaced = (id: KeyValue): boolean => table.known(id) !== undefined || places.has(userKeyId(id))
    const absent = items.removed.filter((id) => !isPlaced(id))
    if (absent.length === 0) return items
    const changes = new PartChanges(table, new InverseChanges(this.#parts, new Map()))
    changes.gatherThese({ removed: absent, changed: [], recorded: [], put: [] })
    draft.beforeSending(() => changes.confirm())
    return { ...items, removed: items.removed.filter(isPlaced) }
  }

  #checkSame(table: PartTable, part: object, before: MapKey | undefined, now: MapKey): void {
    if (before === undefined) return
    const shards = this.#scheme.shardsOf(table.owner.key)
    const [from, to] = [before, now].map((place) => this.#scheme.nameAt(place as string, shards))
    if (from === to) return
    const fix = 'Keep its date within its bucket, or remove it, flush, and add a new one.'
    throw this.#refused(table, part, `is stored in '${from}', and its date leads to '${to}'`, fix)
  }

  #refused({ owner }: PartTable, part: object, why: string, fix: string): SkeinError {
    const { name, on } = { name: this.#parts.codec.model.name, on: this.#parts.relation.sortKey![0] }
    const message = `${name} ${describeKey(this.#parts.idOf(part))} in ${this.#parts.relation.name} of ${owner.model.name} ${describeKey(owner.key.key)} ${why}.`
    return new SkeinError('SKEIN_2426', message, { className: name, property: on, key: owner.key.key, fix })
  }
}
