import type { Tracked } from '../../contract/tracked.js'
import type { MapKey } from '../../../plan/value.js'
import type { Reader } from '../../contract/reader.js'
import type { PartClass } from './part-class.js'

/** A part of a collection as it is now, at the place it will have. */
export interface PlacedPart {
  readonly part: object
  readonly place: MapKey
}

/** A collection of a record, which holds all parts in its own. */
export interface RootParts {
  readonly parts: PartClass
  readonly owner: Tracked
  readonly reader: Reader
  /** The children are in companion records. */
  readonly isApart: boolean
}

/** A collection that parts were added to: of a record, or of another part. */
export interface PartHolder {
  /** The collection of the record, which holds it or is it. */
  readonly table: RootParts
  /** The part of that collection that holds it; absent for the collection itself. */
  readonly root?: object
  readonly owner: Tracked
  /** True while the part was added to it and was not taken out again. */
  holds(part: object): boolean
}

/** Maps each part to the collection it was added to last. */
const HOLDERS = new WeakMap<object, PartHolder>()

export function holdPart(part: object, holder: PartHolder): void {
  HOLDERS.set(part, holder)
}

/** The part is stored in this collection of a record. */
export function settlePart(part: object, table: RootParts): void {
  if (HOLDERS.get(part)?.table === table) HOLDERS.delete(part)
}

/** The collection that a part goes to, if its new home is in another record and it is not stored there yet. */
export function unsentElsewhere(part: object, table: RootParts, root?: object): PartHolder | undefined {
  const holder = HOLDERS.get(part)
  if (holder === undefined || holder.owner.state === 'gone' || !holder.holds(part)) return undefined
  // Children in companions are in as many records; which ones, the plan finds out later.
  const isElsewhere = holder.table !== table || (table.isApart && holder.root !== root)
  return isElsewhere ? holder : undefined
}
