import type { WriteOperation } from '../../../plan/operation.js'
import {
  listAppendUnique,
  listCreate,
  listRemoveValues,
  mapCreate,
  mapPutItems,
  mapRemoveKeys,
  mapRemoveValues,
} from '../../../plan/operations.js'
import type { Value } from '../../../plan/value.js'
import { entriesOf } from '../consolidate/indexed-refs.js'
import type { PartClass } from '../consolidate/part-class.js'
import type { FoundPart } from '../consolidate/part-verification.js'
import { Pointers } from '../consolidate/pointers.js'

/** A child as it goes from one record to another, with what is kept beside it. */
export type TransferredPart = Pick<FoundPart, 'part' | 'id' | 'place' | 'rightPlace' | 'entries' | 'tuples'>

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

/** Stores children in a record that does not have them. */
export function partPuts(parts: PartClass, moved: readonly TransferredPart[]): readonly WriteOperation[] {
  const { bin: name, relation, codec } = parts
  const { sortKeyBin } = relation
  return [
    mapPutItems(name, new Map(moved.map(({ rightPlace, part }) => [rightPlace, codec.encode(part, 1)]))),
    ...(sortKeyBin === undefined
      ? []
      : [mapPutItems(sortKeyBin, new Map(moved.map(({ id, rightPlace }) => [id, rightPlace])))]),
    ...pointersOf(parts, moved).flatMap(({ bin, pointers }) => pointers.listed(bin)),
    ...tuplesOf(parts, moved).map(({ bin, tuples }) => listAppendUnique(bin, tuples)),
  ]
}

/** Takes children out of the record that they were in. */
export function partRemoval(parts: PartClass, moved: readonly TransferredPart[]): readonly WriteOperation[] {
  const { sortKeyBin } = parts.relation
  const places = moved.map(({ place }) => place)
  const ids = moved.map(({ id }) => id)
  return [
    mapRemoveKeys(parts.bin, places),
    ...(sortKeyBin === undefined ? [] : [mapRemoveKeys(sortKeyBin, ids)]),
    ...pointersOf(parts, moved).flatMap(({ bin, pointers }) => [...pointers.unlisted(bin), mapRemoveValues(bin, [[]])]),
    ...tuplesOf(parts, moved).map(({ bin, tuples }) => listRemoveValues(bin, tuples)),
  ]
}

/** Targets of the children, for each inverse index that lists some of them. */
function pointersOf(
  { relation }: PartClass,
  moved: readonly TransferredPart[],
): readonly { readonly bin: string; readonly pointers: Pointers }[] {
  const indexes = (relation.inverseIndexes ?? []).map(({ bin }) => ({ bin, pointers: new Pointers() }))
  for (const { entries } of moved)
    for (const { index, to, entry } of entries) if (to !== null) indexes[index].pointers.add(to, entry)
  return indexes.filter(({ pointers }) => !pointers.isEmpty)
}

/** The tuples of the children, for each order that has some of them. */
function tuplesOf(
  { orders }: PartClass,
  moved: readonly TransferredPart[],
): readonly { readonly bin: string; readonly tuples: readonly Value[] }[] {
  return orders
    .map(({ bin }, i) => ({ bin, tuples: moved.flatMap(({ tuples }) => (tuples[i] === undefined ? [] : [tuples[i]])) }))
    .filter(({ tuples }) => tuples.length > 0)
}
