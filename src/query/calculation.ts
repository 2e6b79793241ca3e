import { shown } from '../errors/index.js'
import {
  abs,
  add,
  and,
  div,
  eq,
  ge,
  gt,
  le,
  listSize,
  lt,
  mapSize,
  mod,
  mul,
  ne,
  not,
  or,
  sub,
  toFloat,
  value,
  type BinType,
  type Expression,
} from '../plan/expression.js'
import type { EntityClass } from '../model/index.js'
import { DoubleValue } from '../plan/value.js'
import { isStored, valueOf, type Field } from './field.js'
import type { Filter, NumberOperand } from './filter-types.js'
import { integerRange, type Bound } from './integer-range.js'
import type { Term } from './term.js'
import { TermFilter } from './term-filter.js'
import { ConditionProblem, OfAnotherQuery } from './where-errors.js'

const COMPARISONS: { readonly [name: string]: (left: Expression, right: Expression) => Expression } = {
  eq,
  ne,
  gt,
  gte: ge,
  lt,
  lte: le,
}

const CALCULATION = Symbol('skein.calculation')
type Kept = { readonly [CALCULATION]?: Calculation }

/** A value that the server works out of properties and numbers. It has an answer where all the properties are stored. */
export class Calculation {
  readonly paths: readonly string[]
  readonly type: BinType
  readonly expression: Expression
  readonly stored: readonly Expression[]
  /** The class whose properties it is about; undefined of a number alone. */
  readonly of: EntityClass | undefined

  constructor(
    of: EntityClass | undefined,
    paths: readonly string[],
    type: BinType,
    expression: Expression,
    stored: readonly Expression[],
  ) {
    this.of = of
    this.paths = paths
    this.type = type
    this.expression = expression
    this.stored = stored
  }

  /** Gives an operand the methods of a number, and lets it be recognised where another is compared with it. */
  mixInto(operand: Record<string | symbol, unknown>): void {
    operand[CALCULATION] = this
    if (this.type !== 'int' && this.type !== 'float') return
    operand.plus = (other: number | NumberOperand) => this.#with('plus', other, add)
    operand.minus = (other: number | NumberOperand) => this.#with('minus', other, sub)
    operand.times = (other: number | NumberOperand) => this.#with('times', other, mul)
    operand.dividedBy = (other: number | NumberOperand) => this.#asFloat().#with('dividedBy', other, div)
    operand.mod = (other: number | NumberOperand) => this.#remainder(other)
    operand.abs = () => new Calculation(this.of, this.paths, this.type, abs(this.expression), this.stored).operand()
  }

  /** Result as people see it: a number to compare or to calculate further with. */
  operand(): NumberOperand {
    const operand: Record<string, unknown> = {}
    for (const name of Object.keys(COMPARISONS)) {
      operand[name] = (other: unknown): Filter => this.#filter([compareExpressions(name, this, other)])
    }
    operand.between = (from: unknown, to: unknown): Filter => this.#filter(between(this, from, to))
    operand.in = (values: readonly number[]): Filter => this.#isOneOf(values)
    operand.notIn = (values: readonly number[]): Filter => this.#isOneOf(values).not()
    this.mixInto(operand)
    return Object.freeze(operand) as unknown as NumberOperand
  }

  #filter(terms: readonly Term[]): TermFilter {
    return new TermFilter(this.of, terms)
  }

  #isOneOf(values: readonly number[]): Filter {
    const [first, ...others] = values.map((each) => this.#filter([compareExpressions('eq', this, each)]))
    if (first === undefined)
      throw new ConditionProblem(this.paths.join(', '), "'in' takes at least one number", 'Give some.')
    return first.or(...others)
  }

  #with(
    operator: string,
    other: number | NumberOperand,
    combine: (left: Expression, right: Expression) => Expression,
  ): NumberOperand {
    const [left, right] = sameType(this, numberOf(other, this))
    if (left.type !== right.type)
      throw new ConditionProblem(
        this.paths.join(', '),
        `'${operator}' takes a number, and ${right.paths.join(', ')} is none`,
        'Calculate with properties of type int, float or bigint.',
      )
    return joined(left, right, combine(left.expression, right.expression)).operand()
  }

  #remainder(other: number | NumberOperand): NumberOperand {
    const [, right] = sameType(this, calculationOf(other, this.paths))
    if (this.type !== 'int' || right.type !== 'int')
      throw new ConditionProblem(
        this.paths.join(', '),
        "'mod' takes integers",
        'Use properties of type int, and whole numbers.',
      )
    return joined(this, right, mod(this.expression, right.expression)).operand()
  }

  #asFloat(): Calculation {
    return this.type === 'float'
      ? this
      : new Calculation(this.of, this.paths, 'float', toFloat(this.expression), this.stored)
  }

  /** The server does not mix integers and doubles. */
  static common(left: Calculation, right: Calculation): [Calculation, Calculation] {
    if (left.of !== undefined && right.of !== undefined && left.of !== right.of)
      throw new OfAnotherQuery(right.of, right.paths)
    const isMixed = left.type !== right.type && [left, right].every(({ type }) => type === 'int' || type === 'float')
    return isMixed ? [left.#asFloat(), right.#asFloat()] : [left, right]
  }
}

const sameType = (left: Calculation, right: Calculation): [Calculation, Calculation] => Calculation.common(left, right)

const joined = (left: Calculation, right: Calculation, expression: Expression): Calculation =>
  new Calculation(left.of ?? right.of, [...new Set([...left.paths, ...right.paths])], left.type, expression, [
    ...left.stored,
    ...right.stored,
  ])

export const isCalculation = (given: unknown): boolean => keptCalculation(given) !== undefined

export const keptCalculation = (given: unknown): Calculation | undefined =>
  typeof given === 'object' && given !== null ? (given as Kept)[CALCULATION] : undefined

const double = (given: number): Calculation =>
  new Calculation(undefined, [], 'float', value(new DoubleValue(given)), [])

/** Operand of a calculation; only doubles know a zero with a sign, by which a division goes to one infinity or the other. */
const numberOf = (given: unknown, { type, paths }: Calculation): Calculation =>
  type === 'float' && Object.is(given, -0) ? double(-0) : calculationOf(given, paths)

/** The other side of a comparison with a calculation. */
const comparedWith = (given: unknown, paths: readonly string[]): Calculation =>
  given === Infinity || given === -Infinity ? double(given) : calculationOf(given, paths)

function calculationOf(given: unknown, paths: readonly string[]): Calculation {
  const kept = keptCalculation(given)
  if (kept !== undefined) return kept
  if (typeof given === 'bigint' && BigInt.asIntN(64, given) === given)
    return new Calculation(undefined, [], 'int', value(given), [])
  if (typeof given !== 'number' || !Number.isFinite(given))
    throw new ConditionProblem(
      paths.join(', '),
      `${shown(given)} is not a number to calculate with`,
      'Give a number or a property.',
    )
  if (Number.isSafeInteger(given)) return new Calculation(undefined, [], 'int', value(given), [])
  return double(given)
}

/** A comparison of two calculated values; where one of their properties is not stored, only `ne` holds. */
export function compareExpressions(name: string, left: Calculation, other: unknown): Term {
  const compare = COMPARISONS[name] as (typeof COMPARISONS)[string] | undefined
  const path = left.paths.join(', ')
  if (compare === undefined)
    throw new ConditionProblem(path, `'${name}' takes a value, not a property`, 'Give a value.')
  const [one, two] = sameType(left, comparedWith(other, left.paths))
  if (one.type !== two.type)
    throw new ConditionProblem(
      path,
      'it is compared with a property of another type',
      'Compare properties of one type.',
    )
  const expression = compare(one.expression, two.expression)
  const stored = [...one.stored, ...two.stored]
  if (name === 'ne' && stored.length > 0) {
    const total = or(...stored.map((each) => not(each)), expression)
    return { path, expression: total, total }
  }
  const lookup = lookupOf(left, BOUNDS[name]?.(other as number), other)
  return { path, expression, total: stored.length === 0 ? expression : and(...stored, expression), ...lookup }
}

const BOUNDS: { readonly [name: string]: ((given: number) => Bound) | undefined } = {
  eq: (both) => ({ from: both, to: both }),
  gt: (from) => ({ from, isOpenFrom: true }),
  gte: (from) => ({ from }),
  lt: (to) => ({ to, isOpenTo: true }),
  lte: (to) => ({ to }),
}

/** Lookup in an index on the same calculation; none where it is compared with something other than an integer. */
function lookupOf(left: Calculation, bound: Bound | undefined, ...given: readonly unknown[]): Pick<Term, 'lookup'> {
  if (bound === undefined || left.type !== 'int' || !given.every((each) => Number.isSafeInteger(each))) return {}
  const range = integerRange([bound])
  if (range === undefined || range === 'empty') return {}
  return { lookup: { bin: '', steps: [], expression: left.expression, ...range } }
}

function between(left: Calculation, from: unknown, to: unknown): Term[] {
  const terms = [compareExpressions('gte', left, from), compareExpressions('lte', left, to)]
  const { lookup } = lookupOf(left, { from: from as number, to: to as number }, from, to)
  if (lookup === undefined) return terms
  const [{ path }] = terms
  return [
    {
      path,
      expression: and(...terms.map((each) => each.expression)),
      total: and(...terms.map((each) => each.total)),
      lookup,
    },
  ]
}

/** Number of members of a list or map. */
export function sizeOf(of: EntityClass, field: Field): NumberOperand {
  const isList = field.shape.kind === 'list'
  const size = isList ? listSize(valueOf(field, 'list')) : mapSize(valueOf(field, 'map'))
  return new Calculation(of, [field.path], 'int', size, [isStored(field)]).operand()
}
