import { and, gt, lt, not, or, value, type Expression } from '../plan/expression.js'
import type { BulkChange } from './bulk-changes.js'
import { isStored, valueOf, type Field } from './field.js'
import type { Term } from './term.js'

const INT: readonly [bigint, bigint] = [BigInt(Number.MIN_SAFE_INTEGER), BigInt(Number.MAX_SAFE_INTEGER)]
const BIGINT: readonly [bigint, bigint] = [-(2n ** 63n), 2n ** 63n - 1n]

/** Records that an increment would give a number that its property cannot hold, and all others; undefined without increments. */
export function beyondBounds(
  fields: ReadonlyMap<string, Field>,
  changes: readonly BulkChange[],
): { readonly beyond: Term; readonly within: Term } | undefined {
  const added = changes.filter(({ property, increment }) => increment !== undefined && isInteger(fields.get(property)!))
  if (added.length === 0) return undefined
  const tests = added.map(({ property, increment }) => isBeyond(fields.get(property)!, BigInt(increment!)))
  const beyond = tests.length === 1 ? tests[0] : or(...tests)
  const path = added.map(({ property }) => property).join(', ')
  return { beyond: term(path, beyond), within: term(path, not(beyond)) }
}

const term = (path: string, total: Expression): Term => ({ path, expression: total, total })

const isInteger = ({ shape }: Field): boolean => shape.kind === 'scalar' && shape.type === 'int'

function isBeyond(field: Field, by: bigint): Expression {
  const [least, most] = field.shape.kind === 'scalar' && field.shape.isBigint ? BIGINT : INT
  const subject = valueOf(field, 'int')
  const test = by > 0n ? gt(subject, value(most - by)) : lt(subject, value(least - by))
  return and(isStored(field), test)
}
