import { SkeinError } from '../errors/index.js'
import { describeKey } from '../keys/index.js'
import type { RecordTarget } from './record-target.js'

/** Error for a name that has no handle of the kind asked for. */
export function wrongHandle({ model, key }: RecordTarget, property: string, kind: string, fix: string): SkeinError {
  const message = `${model.name} ${describeKey(key)}: '${property}' is not ${kind}.`
  return new SkeinError('SKEIN_2330', message, { className: model.name, property, key, fix })
}

/** Error for an argument that a handle cannot send. */
export function badArgument({ model, key }: RecordTarget, property: string, what: string, fix: string): SkeinError {
  const message = `${model.name} ${describeKey(key)}: ${property}: ${what}.`
  return new SkeinError('SKEIN_2331', message, { className: model.name, property, key, fix })
}
