import { SkeinError } from '../errors/index.js'
import type { EntityClass, EntityModel, IndexModel } from '../model/index.js'
import type { Expression } from '../plan/expression.js'
import { Calculation, compareExpressions, isCalculation, keptCalculation, sizeOf } from './calculation.js'
import { fieldTerms, inClass } from './compile-where.js'
import { isStored, valueOf, type Field } from './field.js'
import type { Filter } from './filter-types.js'
import { checkFilterSize } from './filter-size.js'
import type { Term } from './term.js'
import { TermFilter, termsOf } from './term-filter.js'
import { ConditionProblem, noSuchField } from './where-errors.js'

/** The terms of the function that people gave to `filter`. */
export function compileFilter(
  model: EntityModel,
  fields: ReadonlyMap<string, Field>,
  build: (fields: never) => Filter,
): readonly Term[] {
  return inClass(model, () => {
    if (typeof build !== 'function')
      throw new ConditionProblem('filter', 'it was not given a function', 'Write (x) => x.price.gt(3).')
    const terms = termsOf(build(fieldsProxy(model, fields, '') as never), model.class)
    checkFilterSize(terms)
    return terms
  })
}

/** The integer that an index of the class calculates. */
export function compileCalculation(
  model: EntityModel,
  fields: ReadonlyMap<string, Field>,
  { name, of }: IndexModel,
): Expression {
  const found = keptCalculation(of!(fieldsProxy(model, fields, '') as never))
  if (found?.type === 'int') return found.expression
  const what =
    found === undefined ? 'something other than a calculated number' : 'a double, and only integers are indexed'
  throw new SkeinError('SKEIN_1024', `The index '${name}' of ${model.name} is on ${what}.`, {
    className: model.name,
    property: name,
    fix: 'Return a calculation with integers: (l: FilterFields<Listing>) => l.price.times(l.rooms).',
  })
}

/** A name that is not a property is an error that says so, and not `undefined`. */
function fieldsProxy(model: EntityModel, fields: ReadonlyMap<string, Field>, prefix: string): object {
  return new Proxy(Object.freeze({}), {
    get(_, name) {
      const field = typeof name === 'string' ? fields.get(name) : undefined
      if (field === undefined) throw noSuchField(model, prefix + String(name), [...fields.keys()])
      return operandOf(model, field)
    },
  })
}

const OPERATORS = [
  'eq',
  'ne',
  'in',
  'notIn',
  'gt',
  'gte',
  'lt',
  'lte',
  'startsWith',
  'endsWith',
  'contains',
  'has',
  'hasAny',
  'hasAll',
  'hasKey',
  'hasAnyKey',
  'hasAllKeys',
  'hasValue',
  'hasAnyValue',
]

type Operand = Record<string, unknown>

/** A field with the operators as methods; each checks its operand as `where` does. */
function operandOf(model: EntityModel, field: Field): object {
  const { shape } = field
  const of = model.class as EntityClass
  if (shape.kind === 'part') {
    const fields = shape.fields()
    return new Proxy(fieldsProxy(model, fields, `${field.path}.`), {
      get: (target, name, self) =>
        (name === 'eq' || name === 'ne') && !fields.has(name)
          ? (given: unknown) => new TermFilter(of, fieldTerms(model, field, onlyNull(field, name, given)))
          : (Reflect.get(target, name, self) as unknown),
    })
  }
  const operand: Operand = {}
  const ask = (name: string, given: unknown): TermFilter =>
    new TermFilter(of, fieldTerms(model, field, { [name]: given }))
  for (const name of OPERATORS) {
    operand[name] = (given: unknown) =>
      isCalculation(given)
        ? new TermFilter(of, [compareExpressions(name, calculationOf(of, field), given)])
        : ask(name, given)
  }
  operand.between = (from: unknown, to: unknown) => ask('between', [from, to])
  operand.regex = (pattern: unknown, { ignoreCase = false }: { ignoreCase?: boolean } = {}) =>
    ask('regex', { pattern, ignoreCase })
  if (shape.kind === 'list' || shape.kind === 'map') operand.size = sizeOf(of, field)
  if (shape.kind === 'scalar' && shape.type !== undefined) calculationOf(of, field).mixInto(operand)
  return Object.freeze(operand)
}

function onlyNull({ path }: Field, name: string, given: unknown): Record<string, null> {
  if (given === null) return { [name]: null }
  throw new ConditionProblem(path, `'${name}' of a part takes null`, 'Compare its properties, one by one.')
}

/** The field's value as what can be calculated with and compared to others. */
function calculationOf(of: EntityClass, field: Field): Calculation {
  const { shape, path } = field
  const type = shape.kind === 'scalar' ? shape.type : undefined
  if (type === undefined)
    throw new ConditionProblem(path, 'it cannot be compared with another property', 'Compare it with a value.')
  return new Calculation(of, [path], type, valueOf(field, type), [isStored(field)])
}
