import { describeKey, type KeyValue } from '../../../keys/index.js'
import { listAppendUnique, listCreate, listRemoveValues, removeBin } from '../../../plan/operations.js'
import type { Value } from '../../../plan/value.js'
import { compareValues } from '../../../plan/value-order.js'
import type { InsideFault } from '../../contract/inside-verification.js'
import type { PartClass } from './part-class.js'
import type { PartOrder, Tuple } from './part-order.js'

/** A stored child and the tuples that its orders should hold of it. */
export interface PartTuples {
  readonly id: KeyValue
  readonly tuples: readonly Tuple[]
}

/** Tuples that a list lacks, and those that no child has. The children are the truth. */
export function wrongTuples(
  found: readonly PartTuples[],
  order: PartOrder,
  index: number,
  stored: Value | undefined,
  { relation }: PartClass,
): readonly InsideFault[] {
  const { name: property } = relation
  const listed = Array.isArray(stored)
    ? (stored as readonly Value[]).map((tuple) => order.normal(tuple)).sort(compareValues)
    : []
  const expected = found
    .flatMap(({ id, tuples }) => (tuples[index] === undefined ? [] : [{ id, tuple: tuples[index] }]))
    .sort((a, b) => compareValues(a.tuple, b.tuple))
  const create = Array.isArray(stored) ? [] : [removeBin(order.bin), listCreate(order.bin, 'ordered', true)]
  const faults: InsideFault[] = []
  let at = 0
  for (const { id, tuple } of expected) {
    for (; at < listed.length && compareValues(listed[at], tuple) < 0; at++) faults.push(surplus(listed[at]))
    if (at < listed.length && compareValues(listed[at], tuple) === 0) {
      at++
      continue
    }
    const says = `does not list ${describeKey(id)} of ${property} in ${order.bin}`
    const operations = [...(faults.length === 0 ? create : []), listAppendUnique(order.bin, [tuple])]
    faults.push({ kind: 'wrongOrder', property, partKey: id, repair: 'add', says, operations })
  }
  for (; at < listed.length; at++) faults.push(surplus(listed[at]))
  return faults

  function surplus(tuple: Value): InsideFault {
    const isTuple = Array.isArray(tuple) && tuple.length > 0
    const partKey = isTuple ? order.idIn(tuple) : undefined
    const says = `lists ${partKey === undefined ? 'something other than a tuple' : describeKey(partKey)} in ${order.bin}, where no child of ${property} has these values`
    return {
      kind: 'wrongOrder',
      property,
      partKey,
      repair: 'remove',
      says,
      operations: [listRemoveValues(order.bin, [tuple])],
    }
  }
}
