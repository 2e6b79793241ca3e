import type { DeleteRecord, WriteOperation } from '../plan/operation.js'
import type { QueryCommand } from '../plan/query-command.js'
import type { BackgroundJob } from './background-jobs.js'

/** Operation on each record. */
export type BackgroundOperation = WriteOperation | DeleteRecord

/**
 * Records that an operation has written, by the starts of each round. Within a round each start has ended on a node before the next begins
 * there: a value that is written again counts once, and so does one that is no longer found because the update has ended its own condition.
 * Between rounds partitions move from node to node, so that of those that are found again only the last round counts.
 */
export function writtenIn(
  rounds: readonly (readonly BackgroundJob[])[],
  command: QueryCommand,
  operations: readonly BackgroundOperation[],
): number {
  // A record is deleted once, by whichever start reaches it first; a value may be written by each of them.
  if (operations.some(({ kind }) => kind === 'deleteRecord')) return sum(rounds.flat().map(({ written }) => written))
  const byRound = rounds.map(mostOfEachNode)
  return changesCondition(command, operations) ? sum(byRound) : byRound.at(-1)!
}

function mostOfEachNode(starts: readonly BackgroundJob[]): number {
  const byNode = new Map<string, number>()
  for (const { name, written } of starts.flatMap(({ nodes }) => nodes))
    byNode.set(name, Math.max(written, byNode.get(name) ?? 0))
  return sum([...byNode.values()])
}

/** True where records may no longer be found once they are written. */
function changesCondition({ index, filter }: QueryCommand, operations: readonly BackgroundOperation[]): boolean {
  const bins = new Set(operations.flatMap((operation) => ('bin' in operation ? [operation.bin] : [])))
  return (
    (index !== undefined && bins.has(index.bin)) || [index?.expression, filter].some((each) => mentions(each, bins))
  )
}

/** True for an expression that reads one of the bins; names of bins inside calls are plain values. */
function mentions(part: unknown, bins: ReadonlySet<string>): boolean {
  if (typeof part === 'string') return bins.has(part)
  if (typeof part !== 'object' || part === null) return false
  return Object.values(part).some((each) => mentions(each, bins))
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
