import { readProperty } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import { userKeyId, type UserKey } from '../../../plan/record-key.js'
import type { Value } from '../../../plan/value.js'
import type { OnRollback } from '../../contract/contributor.js'
import type { CollectionState } from '../../state/collection-state.js'
import { collectionStateOf } from '../../state/state-of.js'
import { entriesOf } from './indexed-refs.js'
import type { PartClass } from './part-class.js'
import type { PartTable } from './part-table.js'
import { childrenOfPart } from './part-tree.js'

/** A part inside another one, and the collection that has it. */
interface NestedPart {
  readonly part: object
  readonly collection: CollectionState
}

/** The parts that point to a key, as an inverse index lists them. */
export function pointingIn(table: PartTable, index: number, value: UserKey): readonly Value[] {
  return table.placed().flatMap(({ part }) => pointingAt(table.parts, part, index, value))
}

/** A part, and parts in it, that point to a key. */
export function pointingAt(parts: PartClass, part: object, index: number, value: UserKey): readonly Value[] {
  return [...entriesOf(parts.idOf(part), parts.indexed(part))]
    .filter((each) => each.index === index && each.to !== null && userKeyId(each.to) === userKeyId(value))
    .map(({ entry }) => entry)
}

/** The child of the record that an entry leads to, or is. */
export const rootOf = (entry: Value): KeyValue => (Array.isArray(entry) ? entry[0] : entry) as KeyValue

/** Children of the record that have to be read, because the session does not know the parts in them that are listed. */
export function unknownRoots(table: PartTable, entries: readonly Value[]): readonly KeyValue[] {
  const unknown = entries.filter(
    (entry) => Array.isArray(entry) && nestedAt(table, entry) === undefined && !isKnown(table, entry),
  )
  return [...new Set(unknown.map(rootOf))]
}

/** Takes listed parts out of their collections; those that are no longer there are left out. */
export function removeEntries(table: PartTable, entries: readonly Value[], onRollback?: OnRollback): void {
  for (const entry of entries) {
    const listed = Array.isArray(entry) ? nestedAt(table, entry) : { part: entry as KeyValue, collection: table.state }
    if (listed === undefined) continue
    const { part, collection } = listed
    // Each for itself: another transaction of the same flush may have stored other changes of the collection since.
    const putBack = collection.tentatively(part, () => collection.remove(part))
    onRollback?.(putBack)
  }
}

/** True for a part that was stored when the session read it: it has been taken out here since. */
function isKnown(table: PartTable, [id, ...keys]: readonly Value[]): boolean {
  let { codec } = table.parts
  let snapshot = table.known(id as KeyValue)?.snapshot
  for (const key of keys as readonly string[]) {
    const field = codec.children.find((each) => each.isKey(key))
    if (snapshot === undefined || field === undefined) return false
    snapshot = codec.knownChildren(snapshot, field).get(key)?.snapshot
    codec = field.codec
  }
  return snapshot !== undefined
}

function nestedAt(table: PartTable, [id, ...keys]: readonly Value[]): NestedPart | undefined {
  const root = table.find(id as KeyValue)
  let at: object | undefined = root ?? undefined
  let codec = table.parts.codec
  let collection: CollectionState | undefined
  for (const key of keys as readonly string[]) {
    const field = codec.children.find((each) => each.isKey(key))
    if (at === undefined || field === undefined) return undefined
    collection = collectionStateOf(readProperty(at, field.name) as object)
    at = [...childrenOfPart(at, field)].find((child) => field.keyOf(field.codec.key!.keyOf(child)) === key)
    codec = field.codec
  }
  return at === undefined || collection === undefined ? undefined : { part: at, collection }
}
