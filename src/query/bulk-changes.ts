import { unstorable } from '../codec/index.js'
import { ValueProblem } from '../codec/value-problem.js'
import { SkeinError } from '../errors/index.js'
import type { EntityModel, PropertyModel } from '../model/index.js'
import type { WriteOperation } from '../plan/operation.js'
import { addToBin, removeBin, writeBin } from '../plan/operations.js'
import { checkValue } from './check-value.js'
import type { Field } from './field.js'
import { incrementOf, type Increment } from './inc.js'
import { noSuchField } from './where-errors.js'
import type { WritableName } from './where.js'

/** Changes of a bulk update: values by property, `null` for nothing, `inc(…)` for numbers. */
export type BulkChanges<T> = {
  readonly [K in WritableName<T> & keyof T]?:
    | T[K]
    | null
    | (NonNullable<T[K]> extends number
        ? Increment<number>
        : NonNullable<T[K]> extends bigint
          ? Increment<bigint>
          : never)
}

/** A property of a bulk update, checked. */
export interface BulkChange {
  readonly property: string
  readonly bin: string
  readonly value: unknown
  readonly increment: number | bigint | undefined
  /** The change as an operation; undefined where only the entity knows what has to be sent. */
  readonly operation: WriteOperation | undefined
}

/** Checks what is to be set before anything is sent; the key and what the mapper itself keeps cannot be. */
export function compileChanges(
  model: EntityModel,
  fields: ReadonlyMap<string, Field>,
  changes: Readonly<Record<string, unknown>>,
): BulkChange[] {
  if (typeof changes !== 'object' || (changes as unknown) === null)
    throw refused(model, '', 'was not given an object', 'Name a property: update({ price: inc(10) }).')
  const compiled = Object.entries(changes).map(([name, given]) => {
    const property = model.properties.find((each) => each.name === name)
    const field = fields.get(name)
    if (model.relations.some((each) => each.name === name))
      throw refused(model, name, 'is a relation, which a bulk update does not change', 'Change it in a session.')
    if (property?.sharding !== undefined && property.role === 'counter')
      throw refused(model, name, 'is a sharded counter', SHARDED_FIX(model, name))
    if (property?.role === 'countOf') throw notSettable(model, property)
    if (property === undefined || field === undefined)
      throw noSuchField(
        model,
        name,
        model.properties.map((each) => each.name),
      )
    if (given === undefined) throw refused(model, name, 'is undefined', 'Leave it out, or give null to remove it.')
    if (property.role !== 'plain' && property.role !== 'counter') throw notSettable(model, property)
    if (property.immutable === true) throw refused(model, name, 'never changes once it is stored', 'Leave it out.')
    return changeOf(model, property, field, given)
  })
  if (compiled.length === 0)
    throw refused(model, '', 'was given nothing to set', 'Name a property: update({ price: inc(10) }).')
  return compiled
}

const notSettable = (model: EntityModel, { name, role }: PropertyModel): SkeinError =>
  refused(model, name, `is the ${role}, which cannot be set`, 'Leave it out.')

const SHARDED_FIX = ({ name }: EntityModel, property: string): string =>
  `Add to it record by record: session.at(${name}, key).counter('${property}').add(1).`

function changeOf(model: EntityModel, { name, bin, role }: PropertyModel, field: Field, given: unknown): BulkChange {
  const { shape } = field
  const change = { property: name, bin, value: given, increment: undefined }
  const by = incrementOf(given)
  if (by !== undefined) {
    if (shape.kind !== 'scalar' || (shape.type !== 'int' && shape.type !== 'float'))
      throw refused(model, name, 'is not a number that can be added to', 'Give a value instead of inc(…).')
    if (typeof by === 'number' && !Number.isFinite(by))
      throw refused(model, name, `cannot have ${by} added`, 'Give a finite number.')
    const delta = checked(model, name, () => shape.encode(by, 0))
    return { ...change, increment: by, operation: addToBin(bin, delta) }
  }
  if (given === null)
    return { ...change, operation: shape.kind === 'part' && shape.bins !== undefined ? undefined : removeBin(bin) }
  if (shape.kind !== 'scalar' || role === 'counter') {
    checked(model, name, () => checkValue(field, given))
    return { ...change, operation: undefined }
  }
  return {
    ...change,
    operation: writeBin(
      bin,
      checked(model, name, () => shape.encode(given, 0)),
    ),
  }
}

function checked<R>(model: EntityModel, property: string, work: () => R): R {
  try {
    return work()
  } catch (error) {
    if (error instanceof ValueProblem) {
      error.path = `.${property}${error.path}`
      error.property = property
    }
    throw unstorable(model, undefined, error)
  }
}

function refused({ name }: EntityModel, property: string, what: string, fix: string): SkeinError {
  const subject = property === '' ? `The update of ${name}` : `${name}.${property}`
  return new SkeinError('SKEIN_2514', `${subject} ${what}.`, { className: name, property, fix })
}
