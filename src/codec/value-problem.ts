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
export const keyStep = (key: unknown): string =>
  typeof key === 'string'
    ? `[${JSON.stringify(key)}]`
    : `[${key instanceof Uint8Array ? `0x${Buffer.from(key).toString('hex')}` : String(key)}]`

/** A value as a message shows it: short, and never the whole of a large one. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value)
  if (Array.isArray(value)) return `an array of ${value.length}`
  const name = (Object.getPrototypeOf(value) as { constructor?: { name?: string } } | null)?.constructor?.name
  return name === undefined || name === 'Object' ? 'an object' : `a ${name}`
}
