import type { KeyValue } from '../keys/index.js'
import type { EntityModel, RelationModel } from '../model/index.js'
import type { WriteCommand } from '../plan/command.js'
import type { Reader, Tracked } from './contributor.js'
import type { CollectionMembers } from './strategy.js'

/** How many entities one plan deletes, unless told otherwise; what is more is drained in steps before the record itself goes. */
export const MOST_REACHED = 500

/** The members of a collection that are too many for one plan: deleted or let go in steps while the record is marked. */
export interface Drain {
  readonly owner: Tracked
  readonly relation: RelationModel
  readonly target: EntityModel
  /** Keys of members that are still there, so many at a time; ends when there are none. */
  chunks(count: number): AsyncIterable<readonly KeyValue[]>
  /** Lets a member go without deleting it. */
  release(key: KeyValue): WriteCommand | undefined
  /** Takes members off the record, where they are listed in it. */
  trim(keys: readonly KeyValue[]): WriteCommand | undefined
}

/** The first members of a list, again and again: each time those before are gone from it. */
export async function* firstMembers(
  members: CollectionMembers,
  owner: Tracked,
  reader: Reader,
  count: number,
): AsyncGenerator<readonly KeyValue[]> {
  for (;;) {
    const keys = await members.keys(owner, reader, { offset: 0, count })
    if (keys.length === 0) return
    yield keys
  }
}
