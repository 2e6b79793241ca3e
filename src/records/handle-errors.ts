import { fieldStep, inEntry, keyStep, ValueProblem } from '../codec/index.js'
import { EntityGoneError, quoted, SkeinError } from '../errors/index.js'
import { describeKey, type KeyValue } from '../keys/index.js'
import type { EntityModel } from '../model/index.js'
import { isPart, type Place } from './place.js'
import type { RecordTarget } from './record-target.js'

/** Error for a name that has no handle of the kind asked for. */
export function wrongHandle({ model, key }: RecordTarget, property: unknown, kind: string, fix: string): SkeinError {
  const message = `${model.name} ${describeKey(key)}: ${quoted(property)} is not ${kind}.`
  const about = { className: model.name, key, fix }
  return new SkeinError('SKEIN_2330', message, typeof property === 'string' ? { ...about, property } : about)
}

/** Error for an argument that a handle cannot send. */
export function badArgument({ model, key }: RecordTarget, property: string, what: string, fix: string): SkeinError {
  const message = `${model.name} ${describeKey(key)}: ${property}: ${what}.`
  return new SkeinError('SKEIN_2331', message, { className: model.name, property, key, fix })
}

/** The first steps of a place in words. */
export const wayOf = ({ property, steps }: Place, depth: number): string =>
  property +
  steps
    .slice(0, depth)
    .map(({ key, isField }) => (isField ? fieldStep(String(key)) : keyStep(key)))
    .join('')

/** Error for a change inside a part that a loaded map does not have. */
export function partMissing({ model, key }: RecordTarget, place: Place, step: number): SkeinError {
  const message = `${model.name} ${describeKey(key)}: ${wayOf(place, step + 1)} does not exist.`
  const fix = 'Nothing was recorded. Add or put it first.'
  return new EntityGoneError(message, { className: model.name, property: place.property, key, fix })
}

/** Error for a negative index before the first item of a list. */
export function noSuchIndex(target: RecordTarget, property: string, index: number, length: number): SkeinError {
  const what = `there is no index ${index} in a list of ${length}`
  return badArgument(target, property, what, 'Give an index within the list, or one of at least 0.')
}

/** Puts the place of a handle, and the entry there, in front of the path to a value that does not fit. */
export function atPlace({ property, type, rootKey, steps }: Place, entry: readonly unknown[], error: unknown): unknown {
  if (!(error instanceof ValueProblem)) return error
  const way = [...steps, ...entry.map((key) => ({ key, isField: isPart(type) }))]
  const path = way.map(({ key, isField }) => (isField ? fieldStep(String(key)) : keyStep(key)))
  error.path = path.join('') + error.path
  return inEntry(property, rootKey, error)
}

/** Error for conditions on the items of a record that is not stored yet, or whose list has unsent changes that nobody can apply here. */
export function notStoredYet({ model, key }: RecordTarget, property: string): SkeinError {
  const message = `${model.name} ${describeKey(key)}: conditions on the items of '${property}' are for the server, and the record is not stored yet.`
  return new SkeinError('SKEIN_2331', message, { className: model.name, property, key, fix: 'Flush first.' })
}

/** Error for a question about more unsent changes than the server can apply at once, some of which only it can apply. */
export function tooManyUnsent({ model, key }: RecordTarget, property: string): SkeinError {
  const message = `${model.name} ${describeKey(key)}: '${property}' has more unsent changes than the server takes in one question.`
  return new SkeinError('SKEIN_2331', message, { className: model.name, property, key, fix: 'Flush first.' })
}

/** Error for a load of a property whose unsent changes only the server can apply. */
export function changedByServer({ name }: EntityModel, key: KeyValue, property: string): SkeinError {
  const message = `${name} ${describeKey(key)}: '${property}' has unsent changes by conditions, which only the server can apply.`
  return new SkeinError('SKEIN_2331', message, { className: name, property, key, fix: 'Flush before you load it.' })
}

/** Error for a change that the delete of its record would drop. */
export function toBeDeleted({ name }: EntityModel, key: KeyValue, property: string): SkeinError {
  const message = `${name} ${describeKey(key)}: '${property}' cannot be changed, because this session is to delete the record.`
  const fix = 'Await the delete or flush first, then change it with create: true; or keep the entity with persist.'
  return new SkeinError('SKEIN_2304', message, { className: name, property, key, fix })
}

/** Error for a server without path expressions. */
export function tooOld({ model, key }: RecordTarget, property: string, build: string, since: string): SkeinError {
  const message = `${model.name} ${describeKey(key)}: conditions on the items of '${property}' need server ${since}, and this one is ${build}.`
  const fix = 'Load the list and change its items, or upgrade the server.'
  return new SkeinError('SKEIN_2333', message, { className: model.name, property, key, fix })
}
