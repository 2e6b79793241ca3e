import type { KeyValue } from '../../../keys/index.js'
import { recordId, type RecordKey } from '../../../plan/record-key.js'
import type { MapKey } from '../../../plan/value.js'
import type { PartItems } from '../consolidate/part-items.js'
import type { KnownPart, PartTable } from '../consolidate/part-table.js'
import type { RecordedChange } from '../consolidate/recorded-changes.js'

/** Says which record holds a child. */
export interface PartPlaces {
  /** The value that chooses the record. */
  routeOf(id: KeyValue, place: MapKey): KeyValue
  homeOf(owner: RecordKey, id: KeyValue, place: MapKey): RecordKey
}

/** Changes of children in one companion: either of those that come and go, or of those that are there. */
export interface PartGroup extends PartItems {
  readonly home: RecordKey
  /** Value that chooses the companion: the id of one of them, or its place. */
  readonly route: KeyValue
  /** The id of one of them. */
  readonly first: KeyValue
}

interface OpenGroup {
  readonly home: RecordKey
  readonly route: KeyValue
  readonly first: KeyValue
  readonly removed: KeyValue[]
  readonly changed: KnownPart[]
  readonly recorded: RecordedChange[]
  readonly put: object[]
}

/** Sorts changes by the companions that they belong in. A companion that is missing is made for children that come, and is none for those that change. */
export function groupsOf(
  table: PartTable,
  { removed, changed, recorded, put }: PartItems,
  places: PartPlaces,
  placeOf: (id: KeyValue) => MapKey,
): readonly PartGroup[] {
  const { parts, owner } = table
  const groups = new Map<string, OpenGroup>()
  const groupOf = (id: KeyValue, place: MapKey, kind: 'members' | 'fields'): OpenGroup => {
    const route = places.routeOf(id, place)
    const home = places.homeOf(owner.key, id, place)
    const name = `${kind} ${recordId(home)}`
    const known = groups.get(name)
    if (known !== undefined) return known
    const group = { home, route, first: id, removed: [], changed: [], recorded: [], put: [] }
    groups.set(name, group)
    return group
  }
  for (const id of removed) groupOf(id, placeOf(id), 'members').removed.push(id)
  for (const known of changed) groupOf(known.id, known.place, 'fields').changed.push(known)
  for (const each of recorded) groupOf(each.id, each.place, 'fields').recorded.push(each)
  for (const part of put) groupOf(parts.idOf(part), parts.placeOf(part), 'members').put.push(part)
  return [...groups.values()]
}
