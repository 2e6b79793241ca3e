import { readProperty } from '../../../codec/index.js'
import { describeKey } from '../../../keys/index.js'
import type { Ref } from '../../../model/index.js'
import type { WriteOperation } from '../../../plan/operation.js'
import { atKey, listRemoveValues, mapPutMissing, mapRemoveKeys, mapRemoveValues } from '../../../plan/operations.js'
import type { UserKey } from '../../../plan/record-key.js'
import type { MapKey } from '../../../plan/value.js'
import type { InsideRef } from '../../contract/inside-verification.js'
import type { PartClass } from './part-class.js'

/** Targets of a stored part's references, and how to clear each reference when its target has no record. */
export function pointersOf(part: object, place: MapKey, parts: PartClass): readonly InsideRef[] {
  const id = parts.idOf(part)
  const { name: property } = parts.relation
  return parts.codec.model.relations.flatMap(({ name, bin, target: className }): InsideRef[] => {
    const key = (readProperty(part, name) as Ref<object> | undefined)?.key ?? null
    if (key === null) return []
    const says = `has ${describeKey(id)} in ${property}, which points in ${name} to ${className} ${describeKey(key)}, which has no record`
    const operations = [mapRemoveKeys(parts.bin, [bin!], 'none', [atKey(place)]), ...unlisted(name, key, id, parts)]
    const other = { className, key }
    return [
      {
        className,
        key,
        fault: { kind: 'danglingKey', property, partKey: id, other, repair: 'remove', says, operations },
      },
    ]
  })
}

function unlisted(ref: string, key: UserKey, id: MapKey, { relation }: PartClass): readonly WriteOperation[] {
  const index = relation.inverseIndexes?.find((each) => each.ref === ref)
  if (index === undefined) return []
  const { bin } = index
  return [mapPutMissing(bin, key, []), listRemoveValues(bin, [id], 'none', [atKey(key)]), mapRemoveValues(bin, [[]])]
}
