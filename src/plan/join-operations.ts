import type { Operation } from './operation.js'
import { listAppendUnique, listRemoveValues, mapPutItems, mapRemoveKeys } from './operations.js'
import type { MapKey, Value } from './value.js'

export type Put = Extract<Operation, { kind: 'mapPut' | 'mapPutItems' }>

/** Joins operations of one kind on one bin. */
export function join(same: readonly Operation[]): Operation {
  const [first] = same
  switch (first.kind) {
    case 'listAppendUnique':
      return listAppendUnique(first.bin, (same as (typeof first)[]).flatMap(valuesOf), first.path, first.order)
    case 'listRemoveValues':
      return listRemoveValues(first.bin, (same as (typeof first)[]).flatMap(valuesOf), first.returns, first.path)
    case 'mapRemoveKeys': {
      const keys = (same as (typeof first)[]).flatMap((operation) => operation.keys)
      return mapRemoveKeys(first.bin, keys, first.returns, first.path)
    }
    case 'mapPut':
    case 'mapPutItems':
      return mapPutItems(first.bin, new Map((same as Put[]).flatMap(entries)), first.path, first.subtype)
    default:
      return same[same.length - 1]
  }
}

const valuesOf = ({ values }: { readonly values: readonly Value[] }): readonly Value[] => values

function entries(put: Put): readonly (readonly [MapKey, Value])[] {
  return put.kind === 'mapPut' ? [[put.key, put.value]] : [...put.items]
}
