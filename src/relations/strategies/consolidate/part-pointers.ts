import { readProperty } from '../../../codec/index.js'
import { describeKey, type KeyValue } from '../../../keys/index.js'
import { refsOf, type Ref } from '../../../model/index.js'
import type { WriteOperation } from '../../../plan/operation.js'
import { atKey, listRemoveValues, mapPutMissing, mapRemoveKeys, mapRemoveValues } from '../../../plan/operations.js'
import type { UserKey } from '../../../plan/record-key.js'
import type { MapKey } from '../../../plan/value.js'
import type { InsideRef } from '../../contract/inside-verification.js'
import { pointedTo } from '../../contract/member.js'
import { entryAt } from './indexed-refs.js'
import type { PartClass } from './part-class.js'
import { partsIn, type PartBelow, type PartStep } from './part-tree.js'

/** Targets of the references of a stored part and of the parts in it, and how to clear each reference when its target has no record. */
export function pointersOf(root: object, place: MapKey, parts: PartClass): readonly InsideRef[] {
  return [...partsIn(root, parts.codec)].flatMap((below) => pointersIn(below, parts.idOf(root), place, parts))
}

function pointersIn({ part, codec, steps }: PartBelow, id: KeyValue, place: MapKey, parts: PartClass): InsideRef[] {
  const { name: property } = parts.relation
  return refsOf(codec.model).flatMap(({ name, bin }): InsideRef[] => {
    const held = (readProperty(part, name) as Ref<object> | undefined)?.key ?? null
    if (held === null) return []
    const { className, key } = pointedTo(codec.targetOf(name), held)
    const inside = steps.map((step) => `.${step.field.name} ${describeKey(step.id)}`).join('')
    const says = `has ${describeKey(id)}${inside} in ${property}, which points in ${name} to ${className} ${describeKey(key)}, which has no record`
    const path = [atKey(place), ...steps.map((step) => atKey(step.field.keyOf(step.id)))]
    const operations = [mapRemoveKeys(parts.bin, [bin!], 'none', path), ...unlisted(name, held, id, steps, parts)]
    const other = { className, key }
    const partKey = steps.at(-1)?.id ?? id
    return [
      {
        className,
        key,
        fault: { kind: 'danglingKey', property, partKey, other, repair: 'remove', says, operations },
      },
    ]
  })
}

function unlisted(
  ref: string,
  key: UserKey,
  id: KeyValue,
  steps: readonly PartStep[],
  { relation, coverage }: PartClass,
): readonly WriteOperation[] {
  const refs = coverage?.along(steps)?.refs ?? []
  const entry = entryAt(
    id,
    steps.map((step) => step.field.keyOf(step.id)),
  )
  const bins = (relation.inverseIndexes ?? []).filter((_, i) => refs[i] === ref).map(({ bin }) => bin)
  return bins.flatMap((bin) => [
    mapPutMissing(bin, key, []),
    listRemoveValues(bin, [entry], 'none', [atKey(key)]),
    mapRemoveValues(bin, [[]]),
  ])
}
