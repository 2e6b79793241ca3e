import { SkeinError } from '../errors/index.js'
import { describeKey } from '../keys/index.js'
import type { RecordTarget } from './record-target.js'

/** Error for a name that has no handle of the kind asked for. */
export function wrongHandle({ model, key }: RecordTarget, property: string, kind: string, fix: string): SkeinError {
  const message = `${model.name} ${describeKey(key)}: '${property}' is not ${kind}.`
  return new SkeinError('SKEIN_2330', message, { className: model.name, property, key, fix })
}

/** Error for a change of a property that was read in part and has unsent changes of its own. */
export function changedInPart({ model, key }: RecordTarget, property: string): SkeinError {
  const message = `${model.name} ${describeKey(key)}: '${property}' was read in part and has unsent changes.`
  const fix = 'Flush them first, or make all changes through the handle.'
  return new SkeinError('SKEIN_2331', message, { className: model.name, property, key, fix })
}

/** Error for an argument that a handle cannot send. */
export function badArgument({ model, key }: RecordTarget, property: string, what: string, fix: string): SkeinError {
  const message = `${model.name} ${describeKey(key)}: ${property}: ${what}.`
  return new SkeinError('SKEIN_2331', message, { className: model.name, property, key, fix })
}
