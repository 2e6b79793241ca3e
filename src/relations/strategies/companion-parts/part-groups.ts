import type { KeyValue } from '../../../keys/index.js'
import { recordId, type RecordKey } from '../../../plan/record-key.js'
import type { PartItems } from '../consolidate/part-items.js'
import type { KnownPart, PartTable } from '../consolidate/part-table.js'
import type { RecordedChange } from '../consolidate/recorded-changes.js'

/** Changes of children in one companion: either of those that come and go, or of those that are there. */
export interface PartGroup extends PartItems {
  readonly home: RecordKey
  /** One of them: it says which companion it is. */
  readonly first: KeyValue
}

interface OpenGroup {
  readonly home: RecordKey
  readonly first: KeyValue
  readonly removed: KeyValue[]
  readonly changed: KnownPart[]
  readonly recorded: RecordedChange[]
  readonly put: object[]
}

/** Sorts changes by the companions that they belong in. A companion that is missing is made for children that come, and is none for those that change. */
export function groupsOf(
  { parts }: PartTable,
  { removed, changed, recorded, put }: PartItems,
  homeOf: (id: KeyValue) => RecordKey,
): readonly PartGroup[] {
  const groups = new Map<string, OpenGroup>()
  const groupOf = (id: KeyValue, kind: 'members' | 'fields'): OpenGroup => {
    const home = homeOf(id)
    const name = `${kind} ${recordId(home)}`
    const known = groups.get(name)
    if (known !== undefined) return known
    const group = { home, first: id, removed: [], changed: [], recorded: [], put: [] }
    groups.set(name, group)
    return group
  }
  for (const id of removed) groupOf(id, 'members').removed.push(id)
  for (const known of changed) groupOf(known.id, 'fields').changed.push(known)
  for (const each of recorded) groupOf(each.id, 'fields').recorded.push(each)
  for (const part of put) groupOf(parts.idOf(part), 'members').put.push(part)
  return [...groups.values()]
}
