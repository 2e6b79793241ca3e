import type { Codecs } from '../codec/index.js'
import type { BinType, EntityModel } from '../model/index.js'
import { and, value, type Expression } from '../plan/expression.js'
import { loopVariable } from '../plan/path-expression.js'
import { compileWhere } from '../query/compile-where.js'
import type { Field } from '../query/field.js'
import { fieldsOf } from '../query/fields-of.js'
import { compileFilter } from '../query/filter.js'
import type { Filter, FilterFields } from '../query/filter-types.js'
import type { Where } from '../query/where.js'

/** Conditions on the items of a list: by property, or put together with and, or and not. */
export type ItemConditions<V> = (V extends object ? Where<V> : never) | ((item: FilterFields<V>) => Filter)

/** Bin that stands for the item while conditions are compiled; no bin of a user has this name. */
const ITEM = '\0item'

/** The conditions as one expression on the child of a path: undefined for all items, false for none. */
export function compileConditions(
  model: EntityModel,
  part: string,
  conditions: unknown,
  codecs: Codecs,
): Expression | undefined | false {
  const fields = itemFields(part, codecs)
  const terms =
    typeof conditions === 'function'
      ? compileFilter(model, fields, conditions as (item: never) => Filter)
      : compileWhere(model, fields, conditions)
  if (terms.some(({ isNever }) => isNever === true)) return false
  const all = terms.map(({ total }) => onChild(total)).filter((one) => !isTrue(one))
  return all.length < 2 ? all[0] : and(...all)
}

function itemFields(part: string, codecs: Codecs): ReadonlyMap<string, Field> {
  const type: BinType = { kind: 'embedded', shape: 'one', part }
  const item = { name: 'item', bin: ITEM, type, role: 'plain', index: 0 } as const
  const encodeRef = (target: string, given: unknown): ReturnType<typeof keyOf> => keyOf(target, given, codecs)
  const { shape } = fieldsOf({ properties: [item], relations: [] }, codecs, encodeRef).get('item')!
  return shape.kind === 'part' ? shape.fields() : new Map<string, Field>()
}

function keyOf(target: string, given: unknown, codecs: Codecs): string | number | bigint | Uint8Array {
  const { key, model } = codecs.entity(target)
  return given instanceof model.class ? key.keyOf(given) : key.scheme.toKey(given)
}

const isTrue = (expression: Expression): boolean => expression.kind === 'value' && expression.value === true

/** Rewrites an expression to be about the child that a path has reached, instead of a bin. */
function onChild(expression: Expression): Expression {
  if (expression.kind === 'bin') return expression.name === ITEM ? loopVariable(expression.type) : expression
  if (expression.kind === 'collection') return { ...expression, subject: onChild(expression.subject) }
  if (expression.kind !== 'call') return expression
  if (expression.name === 'binExists') return value(true)
  const args = expression.args.map(onChild)
  if (expression.name !== 'and') return { ...expression, args }
  const left = args.filter((one) => !isTrue(one))
  return left.length === 0 ? value(true) : left.length === 1 ? left[0] : { ...expression, args: left }
}
