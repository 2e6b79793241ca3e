import { isKnownOpcode } from './opcodes.js'

/** Levels of lists, maps and objects in a value; the binding follows them by recursion, and so ends the process with what contains itself. */
const MAX_DEPTH = 60

const EXPRESSIONS = ['exp', 'modExp'] as const
const CONTEXTS = ['context', 'ctx'] as const

/** Problem of an operation that a user made, and its fix. */
interface Problem {
  readonly why: string
  readonly fix: string
}

const WITH_MODULES = 'Make it with the modules of the official client.'

/** Problem that keeps an operation from the binding, which would end the process or store something else; undefined for most. */
export function problemOf(operation: object): Problem | undefined {
  const given = operation as Readonly<Record<string, unknown>>
  if (!isKnownOpcode(given.op)) return { why: `the client has no operation ${shown(given.op)}`, fix: WITH_MODULES }
  for (const name of EXPRESSIONS)
    if (name in given && !isExpression(given[name]))
      return { why: 'its expression is not one of the client', fix: 'Make it with Aerospike.exp.' }
  for (const name of CONTEXTS)
    if (given[name] !== undefined && !isContext(given[name]))
      return { why: 'its context is not one of the client', fix: 'Make it with Aerospike.cdt.Context.' }
  return problemOfValue(given)
}

const shown = (code: unknown): string => (typeof code === 'number' ? String(code) : `of type ${typeof code}`)

const isContext = (given: unknown): boolean =>
  typeof given === 'object' && given !== null && 'items' in given && Array.isArray(given.items)

/** Expressions are lists of steps, or base64. */
function isExpression(given: unknown): boolean {
  if (typeof given === 'string') return given !== ''
  return Array.isArray(given) && given.length > 0 && given.every((step) => typeof step === 'object' && step !== null)
}

function problemOfValue(operation: object): Problem | undefined {
  let problem: Problem | undefined
  const heights = new Map<object, number>()
  const path = new Set<object>()
  /** Levels below a value, each object counted once. */
  const heightOf = (value: unknown): number => {
    if (typeof value === 'function' || typeof value === 'symbol')
      problem ??= { why: `a ${typeof value} cannot be stored`, fix: 'Give a value that Aerospike can store.' }
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return 0
    const known = heights.get(value)
    if (known !== undefined) return known
    if (path.has(value) || path.size > MAX_DEPTH) return Infinity
    path.add(value)
    let height = 0
    for (const inner of innerOf(value)) height = Math.max(height, 1 + heightOf(inner))
    path.delete(value)
    heights.set(value, height)
    return height
  }
  if (heightOf(operation) <= MAX_DEPTH) return problem
  const why = `a value in it contains itself, or is deeper than ${MAX_DEPTH} levels`
  return { why, fix: 'Give a value that Aerospike can store.' }
}

function* innerOf(value: object): Iterable<unknown> {
  if (value instanceof Map) for (const [key, inner] of value as ReadonlyMap<unknown, unknown>) yield* [key, inner]
  else yield* Object.values(value)
}
