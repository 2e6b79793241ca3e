import { SkeinError } from '../errors/index.js'
import { describeKey, type KeyValue } from '../keys/index.js'
import type { RecordTarget } from '../records/record-target.js'
import type { LocatedPart } from '../relations/contract/relation-strategy.js'

/** Error for a child that a loaded one does not have. */
export function notInside({ model, key }: RecordTarget, property: string, id: KeyValue): SkeinError {
  const message = `${model.name} ${describeKey(key)}: '${property}' is loaded and has no child ${describeKey(id)}; it was not stored, or this session removes it.`
  return new SkeinError('SKEIN_2331', message, { className: model.name, property, key, fix: 'Add the child first.' })
}

/** Error for a child that the session removes. */
function removed({ model, key }: RecordTarget, property: string, id: KeyValue): SkeinError {
  const message = `${model.name} ${describeKey(key)}: the child ${describeKey(id)} of '${property}' is removed in this session.`
  return new SkeinError('SKEIN_2331', message, { className: model.name, property, key, fix: 'Add it again first.' })
}

/** Error for a child that the session removes, or that is not among the loaded ones. */
export function noChild(target: RecordTarget, property: string, { id, isRemoved }: LocatedPart): SkeinError {
  if (isRemoved) return removed(target, property, id)
  const { model, key } = target
  const message = `${model.name} ${describeKey(key)}: '${property}' is loaded and has no child ${describeKey(id)}.`
  return new SkeinError('SKEIN_2331', message, { className: model.name, property, key, fix: 'Add the child first.' })
}

/** Error for a property of a child that has no handle. */
export function notInChild({ model, key }: RecordTarget, property: string): SkeinError {
  const message = `${model.name} ${describeKey(key)}: a child of '${property}' has no such handle.`
  return new SkeinError('SKEIN_2330', message, { className: model.name, property, key, fix: 'Use its fields.' })
}

/** Error for a child of a sorted collection that is not loaded. */
export function placeUnknown({ model, key }: RecordTarget, property: string, id: KeyValue): SkeinError {
  const message = `${model.name} ${describeKey(key)}: '${property}' is sorted, so only its record knows where the child ${describeKey(id)} is.`
  const fix = `Load the child first: await session.at(…).collection('${property}').get(id). If that returns null, there is no such child.`
  return new SkeinError('SKEIN_2330', message, { className: model.name, property, key, fix })
}

/** Error for a change of fields that say where the child is. */
export function fixedFields({ model, key }: RecordTarget, property: string): SkeinError {
  const message = `${model.name} ${describeKey(key)}: the key fields of a child of '${property}', and those of its orders, cannot be changed through a handle.`
  const fix = 'Load the child, or add a new one and remove this.'
  return new SkeinError('SKEIN_2331', message, { className: model.name, property, key, fix })
}
