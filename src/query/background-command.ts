import type { BackgroundOperation } from '../driver/background-query.js'
import { query, type QueryCommand } from '../plan/query-command.js'
import { planQuery, type QueriedClass } from './plan-query.js'
import { allOf, type Term } from './term.js'

/**
 * The records that a background operation changes. It uses an index unless that might find a record twice: by several lookups, or
 * again under the value that the operation itself has given it.
 */
export function backgroundCommand(
  source: QueriedClass,
  terms: readonly Term[],
  operations: readonly BackgroundOperation[],
): QueryCommand {
  const command = planQuery(source, { terms, isScan: true }).command('none')
  const { index, others } = command
  const isMoving = operations.some(
    (each) => each.kind === 'addToBin' && (each.bin === index?.bin || index?.expression !== undefined),
  )
  if (others === undefined && !isMoving) return command
  const { entity, namespace, set } = command
  const filter = allOf([...source.always, ...terms.map(({ expression }) => expression)])
  return query({ entity, namespace, set, bins: 'none', ...(filter && { filter }) })
}
