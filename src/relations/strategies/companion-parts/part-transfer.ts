import type { KeyValue } from '../../../keys/index.js'
import type { WriteOperation } from '../../../plan/operation.js'
import {
  atKey,
  listAppendUnique,
  listCreate,
  listRemoveValues,
  mapCreate,
  mapPut,
  mapPutMissing,
  mapRemoveKeys,
  mapRemoveValues,
} from '../../../plan/operations.js'
import type { Value } from '../../../plan/value.js'
import { entriesOf } from '../consolidate/indexed-refs.js'
import type { PartClass } from '../consolidate/part-class.js'
import type { FoundPart } from '../consolidate/part-verification.js'

/** A child as it goes from one record to another, with what is kept beside it. */
type TransferredPart = Pick<FoundPart, 'part' | 'id' | 'place' | 'rightPlace' | 'entries' | 'tuples'>

/** A stored child, which is where its own values say. */
export function transferred(parts: PartClass, stored: Value): TransferredPart {
  const part = parts.decoded(stored)
  const place = parts.placeOf(part)
  const id = parts.idOf(part)
  return {
    part,
    id,
    place,
    rightPlace: place,
    entries: [...entriesOf(id, parts.indexed(part))],
    tuples: parts.tuplesOf(part),
  }
}

/** The maps and lists of a record that is made for children. */
export const partCreation = ({ maps, orders }: PartClass): readonly WriteOperation[] => [
  ...maps.map(({ bin: name }) => mapCreate(name, 'ordered', true)),
  ...orders.map(({ bin: name }) => listCreate(name, 'ordered', true)),
]

/** Stores a child in a record that does not have it. */
export function partPuts(parts: PartClass, moved: TransferredPart): readonly WriteOperation[] {
  const { bin: name, relation, codec, orders } = parts
  const { id, rightPlace, part, tuples } = moved
  const { sortKeyBin } = relation
  return [
    mapPut(name, rightPlace, codec.encode(part, 1)),
    ...(sortKeyBin === undefined ? [] : [mapPut(sortKeyBin, id, rightPlace)]),
    ...pointers(parts, moved, (inverse, to, entry) => [
      mapPutMissing(inverse, to, []),
      listAppendUnique(inverse, [entry], [atKey(to)]),
    ]),
    ...orders.flatMap((order, i) => (tuples[i] === undefined ? [] : [listAppendUnique(order.bin, [tuples[i]])])),
  ]
}

/** Takes a child out of the record that it was in. */
export function partRemoval(parts: PartClass, moved: TransferredPart): readonly WriteOperation[] {
  const { bin: name, relation, orders } = parts
  const { id, place, tuples } = moved
  const { sortKeyBin } = relation
  return [
    mapRemoveKeys(name, [place]),
    ...(sortKeyBin === undefined ? [] : [mapRemoveKeys(sortKeyBin, [id])]),
    ...pointers(parts, moved, (inverse, to, entry) => [
      mapPutMissing(inverse, to, []),
      listRemoveValues(inverse, [entry], 'none', [atKey(to)]),
      mapRemoveValues(inverse, [[]]),
    ]),
    ...orders.flatMap((order, i) => (tuples[i] === undefined ? [] : [listRemoveValues(order.bin, [tuples[i]])])),
  ]
}

function pointers(
  { relation }: PartClass,
  { entries }: TransferredPart,
  operations: (inverse: string, to: KeyValue, entry: Value) => readonly WriteOperation[],
): readonly WriteOperation[] {
  const { inverseIndexes = [] } = relation
  return entries.flatMap(({ index, to, entry }) =>
    to === null ? [] : operations(inverseIndexes[index].bin, to, entry),
  )
}
