import { readProperty } from '../codec/index.js'
import type { EmbeddableModel, EntityModel } from '../model/index.js'
import { sameValue } from '../plan/same-value.js'
import { isDouble, type Value } from '../plan/value.js'
import { inField, isPlain, presenceAsked } from './compile-where.js'
import type { Encode, Field } from './field.js'
import { encodeAll } from './scalar-terms.js'
import { ConditionProblem, badOperand, unknownOperator } from './where-errors.js'

/** Answers whether an object meets conditions. */
export type Match = (subject: object) => boolean
type Test = (value: unknown) => boolean

/**
 * Conditions on an object at hand, as `where` has them on records: both sides are compared as they are stored. Regular expressions and
 * maps are left to the server.
 */
export function compileMatch(
  part: EmbeddableModel | EntityModel,
  fields: ReadonlyMap<string, Field>,
  where: unknown,
): Match {
  return objectTest(part.name, fields, '', where)
}

function objectTest(name: string, fields: ReadonlyMap<string, Field>, prefix: string, where: unknown): Match {
  if (!isPlain(where))
    throw new ConditionProblem(prefix.slice(0, -1), 'conditions are an object', "Write { kind: 'friend' }.")
  const tests = Object.entries(where).map(([property, given]): Match => {
    const field = fields.get(property)
    if (field === undefined) {
      const fix = `It has: ${[...fields.keys()].join(', ')}.`
      throw new ConditionProblem(prefix + property, `${name} has no such property`, fix)
    }
    const test = inField(field, () => testOf(field, given))
    return (subject) => test(readProperty(subject, property))
  })
  return (subject) => tests.every((test) => test(subject))
}

function testOf(field: Field, given: unknown): Test {
  const { path, shape } = field
  if (given === undefined)
    throw new ConditionProblem(
      path,
      'the condition is undefined',
      'Leave it out, or give null where nothing is stored.',
    )
  if (given === null) return isMissing
  const presence = presenceAsked(field, given)
  if (presence !== undefined) return presence === 'eq' ? isMissing : (value) => !isMissing(value)
  if (shape.kind === 'scalar') return scalarTest(field, given, shape.encode, shape.isOrdered, shape.isText)
  if (shape.kind === 'list' && shape.item !== undefined) return listTest(field, given, shape.item)
  if (shape.kind === 'part') {
    const inner = objectTest(shape.name, shape.fields(), `${path}.`, given)
    return (value) => typeof value === 'object' && value !== null && inner(value)
  }
  throw new ConditionProblem(path, 'it cannot be looked into here', 'Name a property that holds one value or a list.')
}

const isMissing: Test = (value) => value === undefined || value === null

function scalarTest(field: Field, given: unknown, encode: Encode, isOrdered: boolean, isText: boolean): Test {
  const operators = { ...EQUALITY, ...(isOrdered ? ORDER : {}), ...(isText ? TEXT : {}) }
  const operands = isPlain(given) ? Object.entries(given) : ([['eq', given]] as const)
  if (operands.length === 0) throw new ConditionProblem(field.path, 'no condition is given', 'Leave it out.')
  const tests = operands.map(([operator, operand]) => {
    if (!Object.hasOwn(operators, operator)) throw unknownOperator(field, operator, Object.keys(operators))
    if (operand === undefined) throw badOperand(field, operator, 'is undefined')
    return operators[operator](field, operand, encode)
  })
  return (value) => {
    const stored = isMissing(value) ? undefined : encode(value, 0)
    return tests.every((test) => test(stored))
  }
}

type Compile = (field: Field, operand: unknown, encode: Encode) => (stored: Value | undefined) => boolean

const EQUALITY: { readonly [operator: string]: Compile } = {
  eq: equals,
  ne(field, operand, encode) {
    const isEqual = equals(field, operand, encode)
    return (stored) => !isEqual(stored)
  },
  in: isOneOf,
  notIn(field, operand, encode) {
    const isAmong = isOneOf(field, operand, encode, 'notIn')
    return (stored) => !isAmong(stored)
  },
}

const ORDER: { readonly [operator: string]: Compile } = {
  gt: ordered((result) => result > 0),
  gte: ordered((result) => result >= 0),
  lt: ordered((result) => result < 0),
  lte: ordered((result) => result <= 0),
  between(field, operand, encode) {
    if (!Array.isArray(operand) || operand.length !== 2)
      throw badOperand(field, 'between', 'takes two values: [from, to]')
    const [from, to] = [ORDER.gte(field, operand[0], encode), ORDER.lte(field, operand[1], encode)]
    return (stored) => from(stored) && to(stored)
  },
}

const TEXT: { readonly [operator: string]: Compile } = {
  startsWith: onText('startsWith', (text, part) => text.startsWith(part)),
  endsWith: onText('endsWith', (text, part) => text.endsWith(part)),
  contains: onText('contains', (text, part) => text.includes(part)),
}

function equals(_field: Field, operand: unknown, encode: Encode): (stored: Value | undefined) => boolean {
  if (operand === null) return (stored) => stored === undefined
  const wanted = encode(operand, 0)
  return (stored) => stored !== undefined && same(wanted, stored)
}

function isOneOf(
  field: Field,
  operand: unknown,
  encode: Encode,
  operator = 'in',
): (stored: Value | undefined) => boolean {
  const wanted = encodeAll(field, operator, operand, encode)
  return (stored) => stored !== undefined && wanted.some((each) => same(each, stored))
}

function ordered(holds: (result: number) => boolean): Compile {
  return (_field, operand, encode) => {
    const bound = encode(operand, 0)
    return (stored) => stored !== undefined && holds(compare(stored, bound))
  }
}

function onText(operator: string, holds: (text: string, part: string) => boolean): Compile {
  return (field, operand) => {
    if (typeof operand !== 'string') throw badOperand(field, operator, 'takes a string')
    return (stored) => typeof stored === 'string' && holds(stored, operand)
  }
}

function listTest(field: Field, given: unknown, encode: Encode): Test {
  const operators: { readonly [operator: string]: (items: readonly Value[], wanted: readonly Value[]) => boolean } = {
    has: (items, [wanted]) => includes(items, wanted),
    hasAny: (items, wanted) => wanted.some((each) => includes(items, each)),
    hasAll: (items, wanted) => wanted.every((each) => includes(items, each)),
  }
  if (!isPlain(given)) throw unknownOperator(field, given, Object.keys(operators))
  const tests = Object.entries(given).map(([operator, operand]) => {
    if (!Object.hasOwn(operators, operator)) throw unknownOperator(field, operator, Object.keys(operators))
    const wanted = encodeAll(field, operator, operator === 'has' ? [operand] : operand, encode)
    return (items: readonly Value[]): boolean => operators[operator](items, wanted)
  })
  return (value) => {
    if (!Array.isArray(value) && !(value instanceof Set)) return false
    const items = [...(value as Iterable<unknown>)].map((item) => encode(item, 0))
    return tests.every((test) => test(items))
  }
}

const includes = (items: readonly Value[], wanted: Value): boolean => items.some((item) => same(wanted, item))
const plain = (value: Value): Value => (isDouble(value) ? value.value : value)
const same = (a: Value, b: Value): boolean => sameValue(plain(a), plain(b))

/** The order of the server: numbers by size, texts and bytes by their bytes. NaN, for values without an order, holds for nothing. */
function compare(a: Value, b: Value): number {
  const [one, other] = [plain(a), plain(b)]
  if (typeof one === 'string' && typeof other === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(other))
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other)
  if (!isNumber(one) || !isNumber(other)) return NaN
  return one < other ? -1 : one > other ? 1 : one == other ? 0 : NaN
}

const isNumber = (value: Value): value is number | bigint => typeof value === 'number' || typeof value === 'bigint'
