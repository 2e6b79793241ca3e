import type { KeyValue } from '../../keys/index.js'
import type { EntityModel } from '../../model/index.js'
import type { BinGuard, WriteCommand } from '../../plan/command.js'
import type { Tracked } from './tracked.js'
import type { Reader } from './reader.js'
import type { CollectionMembers } from './collection-members.js'

/** Most entities that one plan deletes, unless told otherwise; more are drained in steps before the record itself is deleted. */
export const MOST_REACHED = 500

/** However many there are. */
export const ALL_MEMBERS = { offset: 0, count: 2 ** 31 - 1 }

/** Outcome for the members of a drained collection. */
export type Fate =
  | { readonly kind: 'delete' }
  /** Detached by one write each, without being loaded. */
  | { readonly kind: 'release'; release(key: KeyValue): WriteCommand | undefined }
  /** Loaded, with the relations that `along` names, changed and saved; or known by their keys alone, where other records hold what is changed. */
  | {
      readonly kind: 'change'
      readonly along?: readonly string[]
      readonly isUnread?: boolean
      change(members: readonly Tracked[], reader: Reader): Promise<readonly Tracked[]>
    }

/** Entities that are too many for one plan: deleted, detached or changed in steps while the record is marked. */
export interface Drain {
  readonly owner: Tracked
  /** The class and property that progress is told of. */
  readonly className: string
  readonly property: string
  readonly target: EntityModel
  readonly fate: Fate
  /** Condition on the records of members without which these are not deleted: they still belong to the owner. */
  readonly only?: BinGuard
  /** Deletes members of a class with soft deletes for good, also those that were deleted before. */
  readonly isForGood?: boolean
  /** Keys of members that are still there, so many at a time; ends when there are none. */
  chunks(count: number): AsyncIterable<readonly KeyValue[]>
  /** Keys of all members as they are, each of them once. */
  survey(count: number): AsyncIterable<readonly KeyValue[]>
  /** Takes members off the records that list them. */
  trim?(keys: readonly KeyValue[]): readonly WriteCommand[]
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

/** All members of a list. */
export async function* allMembers(
  members: CollectionMembers,
  owner: Tracked,
  reader: Reader,
  count: number,
): AsyncGenerator<readonly KeyValue[]> {
  for (let offset = 0; ; offset += count) {
    const keys = await members.keys(owner, reader, { offset, count })
    if (keys.length === 0) return
    yield keys
  }
}

/** Found keys in steps of at most so many. */
export async function* inSteps(
  found: AsyncIterable<readonly KeyValue[]>,
  count: number,
): AsyncGenerator<readonly KeyValue[]> {
  for await (const keys of found) {
    for (let i = 0; i < keys.length; i += count) yield keys.slice(i, i + count)
  }
}
