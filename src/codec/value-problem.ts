import { shown } from '../errors/index.js'

export { shown }

/** Reason why a value cannot be stored or read. It collects its path on the way up and becomes a SkeinError where class and key are known. */
export class ValueProblem extends Error {
  path = ''
  /** The outermost property it happened in. */
  property: string | undefined
  readonly fix: string

  constructor(message: string, fix: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.fix = fix
  }
}

/** Puts a step in front of the problem's path, then throws it again. */
export function throwUnder(step: string, error: unknown): never {
  if (error instanceof ValueProblem) error.path = step + error.path
  throw error
}

/** Puts a property of a class in front of the problem's path, then throws it again. */
export function throwIn(property: string, error: unknown): never {
  if (error instanceof ValueProblem) error.property = property
  return throwUnder(fieldStep(property), error)
}

/** Puts an entry of a collection in front of the problem's path. */
export function inEntry(property: string, key: unknown, error: unknown): unknown {
  if (!(error instanceof ValueProblem)) return error
  error.path = fieldStep(property) + (key == null ? '' : keyStep(key)) + error.path
  error.property = property
  return error
}

export const fieldStep = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
export const indexStep = (index: number): string => `[${index}]`
export function keyStep(key: unknown): string {
  if (typeof key === 'string') return `[${JSON.stringify(key)}]`
  if (key instanceof Uint8Array) return `[0x${Buffer.from(key).toString('hex')}]`
  return `[${typeof key === 'bigint' ? String(key) : shown(key)}]`
}
