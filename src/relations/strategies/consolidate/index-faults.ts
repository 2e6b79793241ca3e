import { describeKey, type KeyValue } from '../../../keys/index.js'
import type { WriteOperation } from '../../../plan/operation.js'
import {
  atKey,
  listAppendUnique,
  listRemoveValues,
  mapCreate,
  mapPutMissing,
  mapRemoveKeys,
  mapRemoveValues,
} from '../../../plan/operations.js'
import { userKeyId, type UserKey } from '../../../plan/record-key.js'
import type { MapKey, Value } from '../../../plan/value.js'
import type { InsideFault } from '../../contract/inside-verification.js'
import { pointedTo } from '../../contract/member.js'
import { entryId, showEntry, type IndexEntry } from './indexed-refs.js'
import type { PartClass } from './part-class.js'

/** Entries that an inverse index should have of a part. */
interface ListedPart {
  readonly entries: readonly IndexEntry[]
}

/** Entry of the stored map of an index. */
interface StoredEntry {
  readonly key: MapKey
  readonly value: Value
}

/** Disagreements between parts and the map of what they point to; undefined where there is no such map. The parts are the truth. */
export function wrongEntries(
  found: readonly ListedPart[],
  index: number,
  stored: readonly StoredEntry[] | undefined,
  { relation, coverage }: PartClass,
): readonly InsideFault[] {
  const { name: property } = relation
  const { bin: name } = relation.inverseIndexes![index]
  const right = found.flatMap(({ entries }) => entries.filter((each) => each.index === index))
  const pointing = new Map(right.map((each) => [entryId(each.entry), each]))
  const target = coverage!.targetOf(index)
  const listed = new Set<string>()
  const faults: InsideFault[] = []
  const fault = (key: UserKey, id: KeyValue | undefined, rest: Pick<InsideFault, 'repair' | 'says' | 'operations'>) =>
    faults.push({ kind: 'wrongIndex', property, partKey: id, other: pointedTo(target, key), ...rest })
  for (const { key, value } of stored ?? []) {
    const parts = Array.isArray(value) ? (value as readonly Value[]) : []
    if (parts.length === 0) {
      const says = `has an entry for ${describeKey(key)} in ${name} without any child`
      fault(key, undefined, { repair: 'remove', says, operations: [mapRemoveKeys(name, [key])] })
    }
    for (const entry of parts) {
      const part = pointing.get(entryId(entry))
      listed.add(`${entryId(entry)} ${userKeyId(key)}`)
      if (part?.to != null && userKeyId(part.to) === userKeyId(key)) continue
      const why = part === undefined ? `which is not in ${property}` : 'which points elsewhere'
      const says = `lists ${showEntry(entry)} under ${describeKey(key)} in ${name}, ${why}`
      const id = part?.id ?? (Array.isArray(entry) ? undefined : (entry as KeyValue))
      fault(key, id, { repair: 'remove', says, operations: unlisted(name, key, entry) })
    }
  }
  const create = stored === undefined ? [mapCreate(name, 'ordered', true)] : []
  for (const { entry, to, id } of right) {
    if (to === null || listed.has(`${entryId(entry)} ${userKeyId(to)}`)) continue
    const says = `does not list ${showEntry(entry)} of ${property} under ${describeKey(to)} in ${name}`
    const operations = [...create, mapPutMissing(name, to, []), listAppendUnique(name, [entry], [atKey(to)])]
    fault(to, id, { repair: 'add', says, operations })
  }
  return faults
}

/** Takes an entry off a list that is there; an empty one says nothing. */
const unlisted = (name: string, key: UserKey, entry: Value): readonly WriteOperation[] => [
  listRemoveValues(name, [entry], 'none', [atKey(key)]),
  mapRemoveValues(name, [[]]),
]
