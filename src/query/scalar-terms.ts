import { and, eq, ge, gt, le, listCountAt, lt, ne, not, or, regex, value, type Expression } from '../plan/expression.js'
import type { UserKey } from '../plan/record-key.js'
import { isDouble, type Value } from '../plan/value.js'
import { isStored, typeOf, valueOf, type Encode, type Field } from './field.js'
import { integerRange, type Bound } from './integer-range.js'
import { isMissing, never, onAny, onStored, type Term } from './term.js'
import { checkedPattern } from './checked-pattern.js'
import { askedForNaN, badOperand } from './where-errors.js'

/** Conditions of one operator on a field that holds one value; `given` is its operand as people wrote it. */
type Compile = (field: Field, given: unknown, encode: Encode) => Term

const EQUALITY: { readonly [operator: string]: Compile } = {
  eq: (field, given, encode) => (given === null ? isMissing(field) : equal(field, encode(given, 0))),
  ne(field, given, encode) {
    if (given === null) return onAny(field, isStored(field))
    const stored = encode(given, 0)
    return onAny(field, or(not(isStored(field)), ne(valueOf(field, typeOf(stored)), value(stored))))
  },
  in: (field, given, encode) => isOneOf(field, encodeAll(field, 'in', given, encode)),
  notIn(field, given, encode) {
    const values = encodeAll(field, 'notIn', given, encode)
    return onAny(field, values.length === 0 ? value(true) : not(isOneOf(field, values).total))
  },
}

const TEXT: { readonly [operator: string]: Compile } = {
  startsWith(field, given) {
    const text = textOf(field, 'startsWith', given)
    const end = textAfter(text)
    const subject = valueOf(field, 'str')
    const from = ge(subject, value(text))
    return onStored(field, end === undefined ? from : and(from, lt(subject, value(end))))
  },
  endsWith: (field, given) => matches(field, `${escapePattern(textOf(field, 'endsWith', given))}$`, false),
  contains: (field, given) => matches(field, escapePattern(textOf(field, 'contains', given)), false),
  regex(field, given) {
    const { pattern, ignoreCase = false } = (
      typeof given === 'object' && given !== null ? given : { pattern: given }
    ) as {
      pattern: unknown
      ignoreCase?: boolean
    }
    return matches(field, checkedPattern(field, textOf(field, 'regex', pattern)), ignoreCase)
  },
}

const BOUNDS: { readonly [operator: string]: (given: Value) => Bound } = {
  gt: (from) => ({ from, isOpenFrom: true }),
  gte: (from) => ({ from }),
  lt: (to) => ({ to, isOpenTo: true }),
  lte: (to) => ({ to }),
}

/** Names of the operators that a field with one value has. */
export function scalarOperators({ shape }: Field): string[] {
  if (shape.kind !== 'scalar') return Object.keys(EQUALITY)
  return [
    ...Object.keys(EQUALITY),
    ...(shape.isOrdered ? [...Object.keys(BOUNDS), 'between'] : []),
    ...(shape.isText ? Object.keys(TEXT) : []),
  ]
}

/** The terms of all operators that were given for one field; each is known to be one of `scalarOperators`. */
export function scalarTerms(field: Field, operands: ReadonlyMap<string, unknown>, encodeAny: Encode): Term[] {
  const encode = encodeAsked(field, encodeAny)
  const bounds: Bound[] = []
  const terms: Term[] = []
  for (const [operator, given] of operands) {
    if (operator === 'between') bounds.push(betweenOf(field, given, encode))
    else if (operator in BOUNDS) bounds.push(BOUNDS[operator](encode(given, 0)))
    else terms.push((EQUALITY[operator] ?? TEXT[operator])(field, given, encode))
  }
  return bounds.length === 0 ? terms : [...terms, within(field, bounds)]
}

function equal(field: Field, stored: Value): Term {
  const isIndexable =
    typeof stored === 'string' || typeof stored === 'bigint' || stored instanceof Uint8Array || isInt(stored)
  const expression = eq(valueOf(field, typeOf(stored)), value(stored))
  return onStored(
    field,
    expression,
    isIndexable ? { on: 'value', wanted: { any: [stored as UserKey] }, isExact: isExactKey(stored) } : undefined,
  )
}

/** Beyond what a double holds exactly, the client can ask only for the neighbourhood. */
const isExactKey = (stored: Value): boolean => typeof stored !== 'bigint' || Number.isSafeInteger(Number(stored))
const isInt = (stored: Value): boolean => typeof stored === 'number' && Number.isInteger(stored)

function isOneOf(field: Field, values: readonly Value[]): Term {
  if (values.length === 0) return never(field)
  if (values.length === 1) return equal(field, values[0])
  const types = [...new Set(values.map(typeOf))]
  const tests = types.map((type) => {
    const list = value(values.filter((each) => typeOf(each) === type))
    const subject = valueOf(field, type)
    const isListed = gt(listCountAt(list, subject), value(0))
    // In a list the server takes NaN for equal to every double.
    return type === 'float' ? and(eq(subject, subject), isListed) : isListed
  })
  const single = types.length === 1 ? types[0] : undefined
  const isIndexable = single === 'str' || single === 'int' || single === 'blob'
  const total = types.map((_, i) => and(isStored(field), tests[i]))
  const term = onStored(
    field,
    tests.length === 1 ? tests[0] : or(...tests),
    isIndexable
      ? { on: 'value', wanted: { any: distinct(values as readonly UserKey[]) }, isExact: values.every(isExactKey) }
      : undefined,
  )
  return total.length === 1 ? term : { ...term, total: or(...total) }
}

function distinct(values: readonly UserKey[]): UserKey[] {
  const seen = new Map(
    values.map((each) => [
      each instanceof Uint8Array ? `b${Buffer.from(each).toString('hex')}` : `${typeof each === 'string'}${each}`,
      each,
    ]),
  )
  return [...seen.values()]
}

function within(field: Field, bounds: readonly Bound[]): Term {
  const tests = bounds.flatMap((bound): Expression[] => [
    ...(bound.from === undefined ? [] : [compare(bound.isOpenFrom ? gt : ge, field, bound.from)]),
    ...(bound.to === undefined ? [] : [compare(bound.isOpenTo ? lt : le, field, bound.to)]),
  ])
  const range = integerRange(bounds)
  if (range === 'empty') return never(field)
  return onStored(field, tests.length === 1 ? tests[0] : and(...tests), range)
}

const compare = (operator: typeof gt, field: Field, bound: Value): Expression =>
  operator(valueOf(field, typeOf(bound)), value(bound))

function betweenOf(field: Field, given: unknown, encode: Encode): Bound {
  if (!Array.isArray(given) || given.length !== 2) throw badOperand(field, 'between', 'takes two values: [from, to]')
  return { from: encode(given[0], 0), to: encode(given[1], 0) }
}

export function encodeAll(field: Field, operator: string, given: unknown, encode: Encode): Value[] {
  const list = given instanceof Set ? [...(given as Set<unknown>)] : given
  if (!Array.isArray(list)) throw badOperand(field, operator, 'takes a list of values')
  const encodeOne = encodeAsked(field, encode)
  return Array.from(list as readonly unknown[], (each) => {
    if (each === null || each === undefined) throw badOperand(field, operator, 'takes values, and null is not one')
    return encodeOne(each, 0)
  })
}

/** Refuses NaN, which is stored as any double and equals nothing that could be asked for. */
function encodeAsked(field: Field, encode: Encode): Encode {
  return (given, depth) => {
    const stored = encode(given, depth)
    if (Number.isNaN(isDouble(stored) ? stored.value : stored)) throw askedForNaN(field)
    return stored
  }
}

function matches(field: Field, pattern: string, ignoreCase: boolean): Term {
  return onStored(field, regex(pattern, ignoreCase, valueOf(field, 'str')))
}

function textOf(field: Field, operator: string, given: unknown): string {
  if (typeof given !== 'string' || given.includes('\0')) throw badOperand(field, operator, 'takes a string')
  return given
}

/** A text as a pattern that finds just this text: what people give never becomes a pattern by itself. */
const escapePattern = (text: string): string => text.replace(/[.[\]{}()\\*+?^$|]/g, '\\$&')

/** The first text, in the order of bytes, after all that begin with this one; undefined where there is none. */
function textAfter(text: string): string | undefined {
  const letters = Array.from(text)
  while (letters.length > 0) {
    const last = letters.pop()!.codePointAt(0)!
    if (last < LAST_POINT) return letters.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)
  }
  return undefined
}
const LAST_POINT = 0x10ffff
