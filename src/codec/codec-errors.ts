import { SkeinError } from '../errors/index.js'
import { describeKey, type KeyValue } from '../keys/index.js'
import type { EntityModel } from '../model/index.js'
import type { PartRefusal } from './loaded-part.js'
import { ValueProblem, shown } from './value-problem.js'

const titleOf = (model: EntityModel, key: KeyValue | undefined): string =>
  key === undefined ? model.name : `${model.name} ${describeKey(key)}`

/** A stored value that does not fit its property; anything that is not a problem with a value passes as it is. */
export function unreadable(model: Pick<EntityModel, 'name'>, key: KeyValue | undefined, error: unknown): unknown {
  if (!(error instanceof ValueProblem)) return error
  const { path, property, fix, cause } = error
  const message = `${model.name}${path}${key === undefined ? '' : ` of ${describeKey(key)}`}: ${error.message}.`
  return new SkeinError('SKEIN_3101', message, { className: model.name, property, key, fix, cause })
}

/** A value that the client would refuse, change or crash on. Nothing was sent. */
export function unstorable(model: Pick<EntityModel, 'name'>, key: KeyValue | undefined, error: unknown): unknown {
  if (!(error instanceof ValueProblem)) return error
  const { path, property, fix, cause } = error
  const message = `${model.name}${path}: ${error.message}.`
  return new SkeinError('SKEIN_2201', message, { className: model.name, property, key, fix, cause })
}

export function notLoaded(model: EntityModel, key: KeyValue | undefined, property: string): SkeinError {
  return new SkeinError('SKEIN_2202', `${titleOf(model, key)}: '${property}' was set, but it was not loaded.`, {
    className: model.name,
    property,
    key,
    fix: 'Refresh the entity first, or load it with this property.',
  })
}

/** A change of a property that was read in part, and that would touch what was not read. */
export function readInPart(
  model: EntityModel,
  key: KeyValue | undefined,
  property: string,
  { why, fix }: PartRefusal,
): SkeinError {
  const message = `${titleOf(model, key)}: '${property}' was read in part, so ${why}.`
  return new SkeinError('SKEIN_2202', message, { className: model.name, property, key, fix })
}

export function keyChanged(model: EntityModel, before: KeyValue, now: KeyValue | undefined): SkeinError {
  const to = now === undefined ? '' : ` to ${describeKey(now)}`
  return new SkeinError('SKEIN_2203', `The key of ${titleOf(model, before)} was changed${to}.`, {
    className: model.name,
    property: model.key.properties[0],
    key: before,
    fix: 'A stored entity keeps its key: save a new entity under the new key and delete this one.',
  })
}

export function unknownClass(model: EntityModel, key: KeyValue | undefined, bin: string, value: unknown): SkeinError {
  const what = value === undefined || value === null ? `has no bin '${bin}'` : `has ${shown(value)} in its bin '${bin}'`
  const message = `${titleOf(model, key)} ${what}, which names no class that ${model.name} can be.`
  return new SkeinError('SKEIN_3102', message, {
    className: model.name,
    bin,
    key,
    fix: 'Load it through its own class or a base class, give that class to open(), or repair the record.',
  })
}
