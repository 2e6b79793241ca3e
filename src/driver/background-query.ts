import { SkeinError } from '../errors/index.js'
import type { DeleteRecord, WriteOperation } from '../plan/operation.js'
import type { QueryCommand } from '../plan/query-command.js'
import { calls, type AerospikeClient, type ClientError, type ClientNode } from './aerospike-client.js'
import { clientOperation } from './client-operations.js'
import { encodeExpression } from './encode-expression.js'
import type { Policies } from './policies.js'
import { clientQuery } from './query-runner.js'
import { queryError } from './query-errors.js'

/** Progress of a background operation, on all nodes. */
export interface BackgroundProgress {
  readonly written: number
  /** Records that could not be written, for instance because a transaction holds them. */
  readonly failed: number
  /** Share of the work that is done, from 0 to 1. */
  readonly share: number
  readonly isDone: boolean
}

/** Operation on each record. */
export type BackgroundOperation = WriteOperation | DeleteRecord

export interface BackgroundOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: BackgroundProgress) => void
}

/** The record's expiry stays as it is. */
const KEEP_TTL = -2
const SHORTEST_WAIT = 5
const LONGEST_WAIT = 500
const NOT_FOUND = 2
const INFO = { timeout: 10_000 }

/**
 * Lets the server change all records that a query finds, and waits until it is done. The signal ends the waiting; what the server has
 * begun, it finishes.
 */
export async function runBackground(
  client: AerospikeClient,
  policies: Policies,
  command: QueryCommand,
  operations: readonly BackgroundOperation[],
  durableDelete: boolean,
  { signal, onProgress }: BackgroundOptions = {},
): Promise<BackgroundProgress> {
  signal?.throwIfAborted()
  const { options, filter } = clientQuery({ ...command, bins: 'all' })
  const policy = policies.background(filter === undefined ? undefined : encodeExpression(filter), durableDelete)
  const id = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER)
  try {
    const query = calls(client).query(command.namespace, command.set, { ...options, ttl: KEEP_TTL })
    await query.operate(operations.map(clientOperation), policy, id)
  } catch (error) {
    // A set that has never been written is not known to the server.
    if ((error as ClientError).code === NOT_FOUND) return { written: 0, failed: 0, share: 1, isDone: true }
    throw queryError(command, error as ClientError)
  }
  for (let pause = SHORTEST_WAIT; ; pause = Math.min(2 * pause, LONGEST_WAIT)) {
    signal?.throwIfAborted()
    const progress = await progressOf(client, id, command)
    onProgress?.(progress)
    if (progress.isDone) return progress
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

async function progressOf(client: AerospikeClient, id: number, command: QueryCommand): Promise<BackgroundProgress> {
  const asked = calls(client)
    .getNodes()
    .map((node) => jobOf(client, node, id, command))
  const nodes = (await Promise.all(asked)).map((info) => readJob(info, command))
  return {
    written: sum(nodes, ({ written }) => written),
    failed: sum(nodes, ({ failed }) => failed),
    share: sum(nodes, ({ share }) => share) / Math.max(1, nodes.length),
    isDone: nodes.every(({ isDone }) => isDone),
  }
}

/** Answer of a node about the job; empty where the node knows none, which the client makes an error. */
async function jobOf(client: AerospikeClient, node: ClientNode, id: number, command: QueryCommand): Promise<string> {
  try {
    return await calls(client).infoNode(`query-show:id=${id}`, node, INFO)
  } catch (error) {
    if ((error as ClientError).code === NOT_FOUND) return ''
    throw queryError(command, error as ClientError)
  }
}

function readJob(info: string, command: QueryCommand): BackgroundProgress {
  const text = info.slice(info.indexOf('\t') + 1).trim()
  // A node that has none of the records may never have heard of the work.
  if (text.startsWith('ERROR:2') || text === '') return { written: 0, failed: 0, share: 1, isDone: true }
  const field = (name: string): string => new RegExp(`(?:^|:)${name}=([^:;]*)`).exec(text)?.[1] ?? ''
  const status = field('status')
  if (status.startsWith('done') && status !== 'done(ok)') throw abandoned(command, status)
  return {
    written: Number(field('recs-succeeded')),
    failed: Number(field('recs-failed')),
    share: Number(field('job-progress')) / 100,
    isDone: status.startsWith('done'),
  }
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, each) => total + of(each), 0)

function abandoned({ entity, namespace, set }: QueryCommand, status: string): SkeinError {
  return new SkeinError('SKEIN_4204', `The server gave up changing the records of ${entity} (${status}).`, {
    className: entity,
    namespace,
    set,
    fix: 'Some records may be changed. Call it again: records that no longer meet the conditions are left alone.',
  })
}
