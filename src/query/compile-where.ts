import { unstorable } from '../codec/index.js'
import { ValueProblem } from '../codec/value-problem.js'
import { TENANT } from '../keys/index.js'
import type { EmbeddableModel, EntityModel } from '../model/index.js'
import { collectionOperators } from './collection-terms.js'
import type { Encode, Field } from './field.js'
import { isStored } from './field.js'
import { scalarOperators, scalarTerms } from './scalar-terms.js'
import { isMissing, onAny, type Term } from './term.js'
import { ConditionProblem, badCondition, noSuchField, noSuchMembers, unknownOperator } from './where-errors.js'

/** The terms of the conditions that people gave, all of which must hold. Values are checked and encoded as their properties are. */
export function compileWhere(model: EntityModel, fields: ReadonlyMap<string, Field>, where: unknown): Term[] {
  return inClass(model, () => termsOf(model, fields, '', where))
}

/** Gives problems of conditions and values the class they belong to. */
export function inClass<T>(model: EntityModel | EmbeddableModel, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof ConditionProblem) throw badCondition(model, error)
    throw unstorable(model, undefined, error)
  }
}

function termsOf(model: EntityModel, fields: ReadonlyMap<string, Field>, prefix: string, where: unknown): Term[] {
  if (!isPlain(where)) {
    throw new ConditionProblem(prefix.slice(0, -1), 'conditions are an object', "Write { city: 'Bern' }.")
  }
  return Object.entries(where).flatMap(([name, given]) => {
    const field = fields.get(name)
    if (field === undefined) throw noSuchField(model, prefix + name, [...fields.keys()])
    return fieldTerms(model, field, given)
  })
}

/** The terms of a condition on one field. */
export function fieldTerms(model: EntityModel, field: Field, given: unknown): Term[] {
  const { shape, path } = field
  // A variable that is not set by mistake would otherwise widen the query to everything.
  if (given === undefined)
    throw new ConditionProblem(
      path,
      'the condition is undefined',
      'Leave it out, or give null where nothing is stored.',
    )
  if (given === null) return [isMissing(field)]
  const presence = presenceAsked(field, given)
  if (presence !== undefined) return [presence === 'eq' ? isMissing(field) : onAny(field, isStored(field))]
  switch (shape.kind) {
    case 'part':
      if (isPlain(given)) operandsOf(field, given)
      return termsOf(model, shape.fields(), `${path}.`, given)
    case 'opaque':
      throw new ConditionProblem(
        path,
        `a value of type ${shape.what} cannot be looked into`,
        'Only null and { ne: null } can be asked for.',
      )
    case 'list':
    case 'map':
      return collectionTerms(field, given)
    case 'scalar':
    case 'ref':
      return valueTerms(field, given, shape.encode)
  }
}

/** `{ ne: null }` and `{ eq: null }`, which every field has, unless a part has a property of that name. */
export function presenceAsked({ shape }: Field, given: unknown): 'eq' | 'ne' | undefined {
  if (!isPlain(given)) return undefined
  const [name, ...others] = Object.keys(given)
  if (others.length > 0 || (name !== 'eq' && name !== 'ne') || given[name] !== null) return undefined
  return shape.kind === 'part' && shape.fields().has(name) ? undefined : name
}

function collectionTerms(field: Field, given: unknown): Term[] {
  const operators = collectionOperators(field)
  if (!isPlain(given)) throw unknownOperator(field, given, ['eq', 'ne', ...operators.keys()])
  return operandsOf(field, given).map(([operator, operand]) => {
    if (operator === 'ne' && operand === null) return onAny(field, isStored(field))
    if (operator === 'eq' && operand === null) return isMissing(field)
    const compile = operators.get(operator)
    if (compile === undefined) throw unknownOperator(field, operator, [...operators.keys()])
    return inField(field, () => compile(field, operator, operand))
  })
}

function valueTerms(field: Field, given: unknown, encode: Encode): Term[] {
  const known = scalarOperators(field)
  const operands = isOperators(field, given, known) ? operandsOf(field, given) : ([['eq', given]] as const)
  for (const [operator] of operands) if (!known.includes(operator)) throw unknownOperator(field, operator, known)
  return inField(field, () => scalarTerms(field, new Map(operands), encode))
}

/** A plain object may also be a value: of a codec of the user's own, or the parts of a key. */
function isOperators(field: Field, given: unknown, known: readonly string[]): given is Record<string, unknown> {
  if (!isPlain(given)) return false
  const names = Object.keys(given)
  if (field.shape.kind !== 'ref') return true
  return names.length > 0 && names.every((name) => known.includes(name)) && !isWholeKey(field.shape.keyParts, names)
}

/** A part of a key may have the name of an operator: all parts together, with or without the tenant, are the key. */
function isWholeKey(parts: readonly string[], names: readonly string[]): boolean {
  const needed = parts.filter((part) => part !== TENANT || names.includes(TENANT))
  return needed.length === names.length && needed.every((part) => names.includes(part))
}

function operandsOf({ path }: Field, given: Record<string, unknown>): (readonly [string, unknown])[] {
  const operands = Object.entries(given)
  if (operands.length === 0) throw new ConditionProblem(path, 'no condition is given', 'Leave it out, or give one.')
  const missing = operands.find(([, operand]) => operand === undefined)
  if (missing !== undefined) {
    throw new ConditionProblem(path, `'${missing[0]}' is undefined`, 'Leave it out, or give a value.')
  }
  return operands
}

/** Gives problems of values the property they belong to. */
export function inField<T>({ path }: Field, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof ValueProblem) {
      error.path = `.${path}${error.path}`
      error.property = path
    }
    throw error
  }
}

export function isPlain(given: unknown): given is Record<string, unknown> {
  if (typeof given !== 'object' || given === null) return false
  const prototype = Object.getPrototypeOf(given) as unknown
  return prototype === null || prototype === Object.prototype
}

/** The term of a collection that has a member, or any of several. */
export function compileHas(
  model: EntityModel,
  members: ReadonlyMap<string, Field>,
  relation: string,
  given: unknown,
  isAny: boolean,
): Term[] {
  const field = members.get(relation)
  if (field === undefined) throw noSuchMembers(model, relation, [...members.keys()])
  const [one, any] = field.shape.kind === 'list' ? ['has', 'hasAny'] : ['hasKey', 'hasAnyKey']
  return inClass(model, () => collectionTerms(field, { [isAny ? any : one]: given }))
}
