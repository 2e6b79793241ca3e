import type { InverseIndexModel } from '../../../model/index.js'
import { onlyIf, read, type Bins } from '../../../plan/command.js'
import { bin, gt, mapCount, mapGet, mapValuesOfList, value } from '../../../plan/expression.js'
import type { ReadOperation } from '../../../plan/operation.js'
import { mapGetKeys, readBin, readExpression } from '../../../plan/operations.js'
import { userKeyId, type UserKey } from '../../../plan/record-key.js'
import type { Value } from '../../../plan/value.js'
import type { FoundHomes } from '../../contract/index-lookup.js'
import type { Reader } from '../../contract/reader.js'
import type { CompanionQuestion } from '../../write/ask-companions.js'
import type { PartClass } from '../consolidate/part-class.js'
import type { PartTable } from '../consolidate/part-table.js'
import { pointingAt, rootOf } from '../consolidate/remove-entries.js'
import { takeAgain } from '../consolidate/take-again.js'
import type { AskedHomes } from './part-homes.js'

const PARTS = '_sk.parts'

/** Takes in the children that an inverse index lists under a key, and gives its entries for each owner. All companions are read at once, and answer where they list it. */
export async function takePointing(
  tables: readonly PartTable[],
  index: InverseIndexModel,
  pointedTo: UserKey,
  homes: AskedHomes,
  reader: Reader,
  found?: FoundHomes,
): Promise<readonly (readonly Value[])[]> {
  if (tables.length === 0) return []
  const [{ parts, owner }] = tables
  const operations = [mapGetKeys(index.bin, [pointedTo], 'value'), childrenOf(parts, index, pointedTo)]
  const isListed = gt(mapCount(bin('map', index.bin), pointedTo), value(0))
  const keys = tables.map((table) => table.owner.key)
  const question: CompanionQuestion = (home) => onlyIf(read(owner.model.name, home, 'none', operations), isListed)
  const answers = await homes.ask(keys, reader, question, found)
  return tables.map((table, i) =>
    answers[i].flatMap(({ record }) => {
      const entries = (record?.bins[index.bin] ?? []) as readonly Value[]
      if (entries.length > 0) takeListed(table, entries, record!.bins)
      return entries
    }),
  )
}

/** Reads the children that the index lists; where it lists the paths to them, all that are there. */
function childrenOf({ bin: name, relation }: PartClass, index: InverseIndexModel, pointedTo: UserKey): ReadOperation {
  if (index.through !== undefined) return readBin(name)
  const ids = mapGet(bin('map', index.bin), pointedTo, 'list')
  const { sortKeyBin } = relation
  const places = sortKeyBin === undefined ? ids : mapValuesOfList(bin('map', sortKeyBin), ids)
  return readExpression(PARTS, mapValuesOfList(bin('map', name), places))
}

function takeListed(table: PartTable, entries: readonly Value[], bins: Bins): void {
  const { parts, owner } = table
  const listed = new Set(entries.map((entry) => userKeyId(rootOf(entry))))
  for (const stored of (bins[PARTS] as readonly Value[] | undefined) ?? parts.valuesIn(bins[parts.bin], owner))
    if (listed.has(userKeyId(parts.idOf(parts.decode(stored, owner))))) takeAgain(table, stored)
}

/** The same for children that have been read as a whole, because they move from one record to another. */
export function takePointingIn(
  table: PartTable,
  children: readonly Value[],
  index: number,
  pointedTo: UserKey,
): readonly Value[] {
  const { parts, owner } = table
  return children.flatMap((stored) => {
    const part = parts.decode(stored, owner)
    const entries = pointingAt(parts, part, index, pointedTo)
    if (entries.length > 0) takeAgain(table, stored)
    return entries
  })
}
