import { queryBytes } from './wire-bytes.js'
import type { IndexLookup, QueryCommand } from './query-command.js'
import type { Reveal } from './show-command.js'
import { showExpression } from './show-expression.js'
import { showValue } from './show-value.js'

/** A query without an index scans the whole set. */
export const queryKind = ({ index }: QueryCommand): 'query' | 'scan' => (index === undefined ? 'scan' : 'query')

/** The query in one line: set, index, filter, size. The value of an index lookup counts as a key. */
export function showQuery(command: QueryCommand, reveal: Reveal): string {
  const { entity, set, index, filter } = command
  const where = index === undefined ? [] : [`by ${index.name} (${showLookup(index, reveal)})`]
  const conditions = filter === undefined ? [] : [`if ${showExpression(filter, reveal.values)}`]
  const head = `${queryKind(command)} ${entity} ${set}`
  return [head, ...where, ...conditions, `${queryBytes(command)} bytes`].join(' · ')
}

/** The lookup as a condition: `city = 'Bern'`, `price 100…500`. */
export function showLookup(lookup: IndexLookup, { keys }: Pick<Reveal, 'keys'>): string {
  const { bin, steps = [], expression, value, to } = lookup
  const what = expression === undefined ? [bin, ...steps].join('.') : showExpression(expression, true)
  const first = keys ? showValue(value) : '…'
  return to === undefined ? `${what} = ${first}` : keys ? `${what} ${first}…${showValue(to)}` : `${what} in a range`
}
