import { SkeinError } from '../errors/index.js'
import type { EntityModel } from '../model/index.js'
import type { Value } from '../plan/value.js'
import type { Field } from './field.js'
import { noSuchField } from './where-errors.js'

interface Named {
  readonly model: EntityModel
  readonly fields: ReadonlyMap<string, Field>
}

/** The field of a property, or of a part by its path: `address.city`. */
function namedField({ model, fields }: Named, named: PropertyKey): Field {
  const path = String(named)
  const [first, ...rest] = path.split('.')
  let field = fields.get(first)
  for (const name of rest) field = field?.shape.kind === 'part' ? field.shape.fields().get(name) : undefined
  if (field === undefined) throw noSuchField(model, path, [...fields.keys()])
  return field
}

/** A field that can be summed up. */
export function numberField(query: Named, path: PropertyKey): Field {
  const field = namedField(query, path)
  const { shape } = field
  if (shape.kind === 'scalar' && shape.isNumber) return field
  throw notFit(query, path, 'is not a number', 'Sum up properties of type int, double or bigint.')
}

export const isBigintField = ({ shape }: Field): boolean => shape.kind === 'scalar' && shape.isBigint

/** A field with one value, which can be sorted and compared. */
export function comparableField(query: Named, path: PropertyKey): { field: Field; decode: (stored: Value) => unknown } {
  const field = namedField(query, path)
  if (field.shape.kind === 'scalar') return { field, decode: field.shape.decode }
  throw notFit(query, path, 'has no order', 'Name a property that holds one number, date, text or the like.')
}

/** A field by whose values records can be grouped. */
export function groupField(query: Named, path: PropertyKey): Field {
  const field = namedField(query, path)
  const { shape } = field
  if (shape.kind === 'scalar' || shape.kind === 'ref' || (shape.kind === 'list' && shape.decode !== undefined))
    return field
  throw notFit(query, path, 'cannot be grouped by', 'Name a property that holds one value, or a list of such values.')
}

function notFit({ model }: Named, named: PropertyKey, what: string, fix: string): SkeinError {
  const path = String(named)
  return new SkeinError('SKEIN_2510', `${model.name}.${path} ${what}.`, { className: model.name, property: path, fix })
}
