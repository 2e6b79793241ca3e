import { read } from '../../../plan/command.js'
import { bin, mapCountOf } from '../../../plan/expression.js'
import { readExpression } from '../../../plan/operations.js'
import type { RecordKey } from '../../../plan/record-key.js'
import type { Reader } from '../../contract/reader.js'
import type { PartTable } from '../consolidate/part-table.js'
import type { PartGroup } from './part-groups.js'

/** Name of the number of children of a group that a record has. */
const THERE = '_sk.there'

/** Record that a group is written to, as a transaction has found it. */
interface CountedPlace {
  readonly home: RecordKey
  readonly isThere: boolean
}

/** Returns by how many children the groups change the count of their owner; a group without a place writes nothing. */
export async function growthOf(
  { parts, owner }: PartTable,
  groups: readonly PartGroup[],
  places: readonly (CountedPlace | undefined)[],
  reader: Reader,
): Promise<number> {
  const ids = bin('map', parts.relation.sortKeyBin ?? parts.bin)
  const counted = groups.map(({ put, removed }, i) => {
    const all = [...put.map((part) => parts.idOf(part)), ...removed]
    const isAsked = places[i]?.isThere === true && all.length > 0
    return { added: places[i] === undefined ? 0 : put.length, all: isAsked ? all : [], home: places[i]?.home }
  })
  const asked = counted.filter(({ all }) => all.length > 0)
  const records = await reader.read(
    asked.map(({ all, home }) => read(owner.model.name, home!, 'none', [readExpression(THERE, mapCountOf(ids, all))])),
  )
  const there = records.reduce((sum, record) => sum + Number(record?.bins[THERE] ?? 0), 0)
  return counted.reduce((sum, { added }) => sum + added, 0) - there
}
