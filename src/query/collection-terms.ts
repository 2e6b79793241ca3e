import {
  and,
  eq,
  ge,
  gt,
  le,
  listCount,
  listCountBetween,
  listCountOf,
  listSize,
  lt,
  mapCount,
  mapCountOf,
  mapSize,
  mapValueCount,
  mapValueCountBetween,
  mapValueCountOf,
  or,
  value,
  type Expression,
} from '../plan/expression.js'
import type { UserKey } from '../plan/record-key.js'
import type { Value } from '../plan/value.js'
import { countMember } from './double-members.js'
import { isStored, typeOf, valueOf, type Encode, type Field } from './field.js'
import { encodeAll } from './scalar-terms.js'
import { never, onAny, onStored, tooLongFor, type Lookup, type Term } from './term.js'
import { badOperand } from './where-errors.js'

/** Way to count members of one kind (items of a list, keys or values of a map), and the index that finds them. */
interface Members {
  readonly on: Lookup['on']
  readonly encode: Encode
  readonly count: (subject: Expression, member: Value) => Expression
  readonly countOf: (subject: Expression, members: readonly Value[]) => Expression
}

type Compile = (field: Field, operator: string, given: unknown) => Term

/** The operators of a list or a map, by name. */
export function collectionOperators(field: Field): ReadonlyMap<string, Compile> {
  const { shape } = field
  if (shape.kind === 'list') {
    const items: Members | undefined = shape.item && {
      on: 'listElements',
      encode: shape.item,
      count: countMember(listCount, listCountBetween),
      countOf: listCountOf,
    }
    return new Map([...membership(items, 'has', 'hasAny', 'hasAll'), sizeOf('list', listSize)])
  }
  if (shape.kind !== 'map') return new Map()
  const keys: Members = {
    on: 'mapKeys',
    encode: shape.key,
    count: (map, key) => mapCount(map, key),
    countOf: mapCountOf,
  }
  const values: Members | undefined = shape.item && {
    on: 'mapValues',
    encode: shape.item,
    count: countMember(mapValueCount, mapValueCountBetween),
    countOf: mapValueCountOf,
  }
  return new Map([
    ...membership(keys, 'hasKey', 'hasAnyKey', 'hasAllKeys'),
    ...membership(values, 'hasValue', 'hasAnyValue'),
    sizeOf('map', mapSize),
  ])
}

function membership(members: Members | undefined, one: string, any: string, all?: string): [string, Compile][] {
  if (members === undefined) return []
  return [
    [one, (field, operator, given) => hasOne(field, members, encodeOne(field, operator, given, members.encode))],
    [any, (field, operator, given) => hasAny(field, members, encodeAll(field, operator, given, members.encode))],
    ...(all === undefined ? [] : [[all, hasAllOf(members)] satisfies [string, Compile]]),
  ]
}

function hasAllOf(members: Members): Compile {
  return (field, operator, given) => {
    const values = encodeAll(field, operator, given, members.encode)
    if (values.length === 0) return onAny(field, isStored(field))
    const terms = values.map((each) => hasOne(field, members, each))
    if (terms.length === 1) return terms[0]
    // An index can be asked for one of them; the others are looked at in what it finds.
    const asked = terms.find(({ lookup }) => lookup && tooLongFor(lookup) === undefined) ?? terms[0]
    const lookup = asked.lookup && { ...asked.lookup, isExact: false }
    return onStored(field, and(...terms.map(({ expression }) => expression)), lookup)
  }
}

function hasOne(field: Field, members: Members, stored: Value): Term {
  const count = members.count(subjectOf(field), stored)
  return onStored(field, gt(count, value(0)), lookupOf(members, [stored]))
}

function hasAny(field: Field, members: Members, stored: readonly Value[]): Term {
  if (stored.length === 0) return never(field)
  if (stored.length === 1) return hasOne(field, members, stored[0])
  // Doubles are counted one by one.
  if (stored.some((each) => typeOf(each) === 'float')) {
    const terms = stored.map((each) => hasOne(field, members, each).expression)
    return onStored(field, or(...terms))
  }
  const count = members.countOf(subjectOf(field), stored)
  return onStored(field, gt(count, value(0)), lookupOf(members, stored))
}

const subjectOf = (field: Field): Expression => valueOf(field, field.shape.kind === 'list' ? 'list' : 'map')

function lookupOf({ on }: Members, values: readonly Value[]): Omit<Lookup, 'bin' | 'steps'> | undefined {
  const isIndexable = values.every((each) => ['str', 'int', 'blob'].includes(typeOf(each)))
  const isExact = values.every((each) => typeof each !== 'bigint' || Number.isSafeInteger(Number(each)))
  return isIndexable ? { on, wanted: { any: values as readonly UserKey[] }, isExact } : undefined
}

function encodeOne(field: Field, operator: string, given: unknown, encode: Encode): Value {
  return encodeAll(field, operator, [given], encode)[0]
}

const ORDER: { readonly [operator: string]: typeof gt } = { eq, gt, gte: ge, lt, lte: le }

/** Conditions on how many members there are: a number, or bounds. */
function sizeOf(type: 'list' | 'map', size: (subject: Expression) => Expression): [string, Compile] {
  return [
    'size',
    (field, operator, given) => {
      const subject = size(valueOf(field, type))
      const operands = typeof given === 'object' && given !== null ? Object.entries(given) : [['eq', given] as const]
      const tests = operands.flatMap(([name, bound]: readonly [string, unknown]): Expression[] => {
        if (name === 'between' && Array.isArray(bound) && bound.length === 2)
          return [ge(subject, count(field, bound[0])), le(subject, count(field, bound[1]))]
        if (!Object.hasOwn(ORDER, name))
          throw badOperand(field, operator, 'takes a number, or gt, gte, lt, lte and between')
        return [ORDER[name](subject, count(field, bound))]
      })
      if (tests.length === 0) throw badOperand(field, operator, 'takes a number, or gt, gte, lt, lte and between')
      return onStored(field, tests.length === 1 ? tests[0] : and(...tests))
    },
  ]
}

function count(field: Field, given: unknown): Expression {
  if (!Number.isSafeInteger(given)) throw badOperand(field, 'size', 'takes whole numbers')
  return value(given as number)
}
