import type { KeyValue } from '../../../keys/index.js'
import type { Bins } from '../../../plan/command.js'
import { bin, mapGet, mapGetAt } from '../../../plan/expression.js'
import type { ReadOperation } from '../../../plan/operation.js'
import { mapGetKeys, readExpression } from '../../../plan/operations.js'
import type { Value } from '../../../plan/value.js'
import type { PartClass } from './part-class.js'

const RESULT = '_sk.'

/** Reads the parts with these ids from the record that holds them. */
export function partsById({ bin: name, relation }: PartClass, ids: readonly KeyValue[]): readonly ReadOperation[] {
  const { sortKeyBin } = relation
  if (sortKeyBin === undefined) return [mapGetKeys(name, ids, 'value')]
  const places = bin('map', sortKeyBin)
  return ids.map((id, i) =>
    readExpression(`${RESULT}${i}`, mapGetAt(bin('map', name), mapGet(places, id, 'str'), 'map')),
  )
}

/** The parts in the answer, those that there are. */
export function partsByIdIn(
  { bin: name, relation }: PartClass,
  ids: readonly KeyValue[],
  bins: Bins,
): readonly Value[] {
  if (relation.sortKeyBin !== undefined) return ids.flatMap((_, i) => bins[`${RESULT}${i}`] ?? [])
  const found = bins[name]
  if (found === undefined || found === null) return []
  return ids.length === 1 ? [found] : (found as readonly Value[])
}
