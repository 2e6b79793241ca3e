import { InDoubtError, SkeinError } from '../errors/index.js'
import type { DeleteRecord, WriteOperation } from '../plan/operation.js'
import type { QueryCommand } from '../plan/query-command.js'
import { calls, type AerospikeClient, type ClientError } from './aerospike-client.js'
import { askJob, countWritten, type BackgroundJob } from './background-jobs.js'
import { clientOperation } from './client-operations.js'
import { failureOf, isWithoutNodes } from './command-errors.js'
import { encodeExpression } from './encode-expression.js'
import type { RetryOptions } from './options.js'
import type { Policies } from './policies.js'
import { clientQuery } from './query-runner.js'
import { queryError } from './query-errors.js'
import { Tries } from './retry.js'
import { CODE, isNoAnswer, isTransient } from './status.js'

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

interface BackgroundParts {
  readonly client: AerospikeClient
  readonly policies: Policies
  readonly retry: RetryOptions
}

/** A background operation that is being started and waited for. */
interface Background extends BackgroundParts {
  readonly command: QueryCommand
  readonly operations: readonly BackgroundOperation[]
  readonly policy: ReturnType<Policies['background']>
  readonly signal: AbortSignal | undefined
  /** True where doing it twice changes nothing. */
  readonly isRepeatable: boolean
}

/** The record's expiry stays as it is. */
const KEEP_TTL = -2
const SHORTEST_WAIT = 5
const LONGEST_WAIT = 500

/**
 * Lets the server change all records that a query finds, and waits until it is done. The signal ends the waiting; what the server has
 * begun, it finishes.
 */
export async function runBackground(
  parts: BackgroundParts,
  command: QueryCommand,
  operations: readonly BackgroundOperation[],
  durableDelete: boolean,
  { signal, onProgress }: BackgroundOptions = {},
): Promise<BackgroundProgress> {
  const { filter } = clientQuery({ ...command, bins: 'all' })
  const policy = parts.policies.background(filter === undefined ? undefined : encodeExpression(filter), durableDelete)
  const isRepeatable = operations.every(({ kind }) => kind !== 'addToBin')
  const work: Background = { ...parts, command, operations, policy, signal, isRepeatable }
  const ids = await start(work)
  let tries: Tries | undefined
  for (let pause = SHORTEST_WAIT; ; pause = Math.min(2 * pause, LONGEST_WAIT)) {
    signal?.throwIfAborted()
    const progress = await progressOf(work, ids, (tries ??= new Tries()))
    if (progress !== undefined) {
      tries = undefined
      onProgress?.(progress)
      if (progress.isDone) return progress
    }
    await rest(pause)
  }
}

/** Ids of the attempts to start it, of which the last has reached every node. */
async function start(work: Background): Promise<readonly number[]> {
  const { command, retry, isRepeatable, signal } = work
  const ids: number[] = []
  let tries: Tries | undefined
  for (let isDoubtful = false; ;) {
    signal?.throwIfAborted()
    const id = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER)
    ids.push(id)
    const error = await send(work, id)
    if (error === undefined) return ids
    const { code } = failureOf(error)
    // The nodes know better than a lost answer whether they have begun.
    const job = await askJob(work.client, id).catch(() => undefined)
    if (job !== undefined && job.begun > 0 && job.begun === job.nodes.length) return ids
    isDoubtful ||= job === undefined || job.begun > 0 || (isNoAnswer(code) && !isWithoutNodes(error))
    const wait = isRepeatable && isTransient(code) ? (tries ??= new Tries()).next(retry) : undefined
    if (wait !== undefined) {
      await rest(wait)
      await untilEnded(work, id)
      continue
    }
    // A missing index is reported as such where all of it may be done again.
    const isAboutIndex = code === CODE.INDEX_NOT_FOUND || code === CODE.INDEX_NOT_READABLE
    throw isDoubtful && !(isRepeatable && isAboutIndex) ? inDoubt(work, error, job) : queryError(command, error)
  }
}

/** Waits for the nodes that have begun, so that no record is counted by two starts. */
async function untilEnded({ client, signal }: Background, id: number): Promise<void> {
  for (let pause = SHORTEST_WAIT; ; pause = Math.min(2 * pause, LONGEST_WAIT)) {
    signal?.throwIfAborted()
    const job = await askJob(client, id).catch(() => undefined)
    if (job === undefined || job.isDone) return
    await rest(pause)
  }
}

async function send({ client, command, operations, policy }: Background, id: number): Promise<ClientError | undefined> {
  try {
    const { options } = clientQuery({ ...command, bins: 'all' })
    const query = calls(client).query(command.namespace, command.set, { ...options, ttl: KEEP_TTL })
    await query.operate(operations.map(clientOperation), policy, id)
    return undefined
  } catch (error) {
    return error as ClientError
  }
}

/** Progress of the last attempt, with what those before it have written; undefined where the nodes have to be asked again. */
async function progressOf(
  work: Background,
  ids: readonly number[],
  tries: Tries,
): Promise<BackgroundProgress | undefined> {
  const { client, retry, operations } = work
  let jobs: readonly BackgroundJob[]
  try {
    jobs = await Promise.all(ids.map((id) => askJob(client, id)))
  } catch (error) {
    const wait = isTransient(failureOf(error as ClientError).code) ? tries.next(retry) : undefined
    if (wait === undefined) throw inDoubt(work, error as ClientError, undefined)
    await rest(wait)
    return undefined
  }
  const { failed, share, abandoned } = jobs.at(-1)!
  if (abandoned !== undefined) throw givenUp(work, abandoned)
  // A record is deleted once, by whichever attempt reaches it first; a value may be written by each of them.
  const isDelete = operations.some(({ kind }) => kind === 'deleteRecord')
  return {
    written: isDelete ? jobs.reduce((sum, job) => sum + job.written, 0) : countWritten(jobs),
    failed,
    share,
    isDone: jobs.every(({ isDone }) => isDone),
  }
}

const rest = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Advice where some records may be changed. */
const afterSome = ({ isRepeatable }: Background): string =>
  isRepeatable
    ? 'Call it again: that changes nothing where it is already done.'
    : 'Do not simply call it again: inc would be added twice where it is already done. Look at the records first, or write the update so that changed records no longer match its condition, and it can be repeated (see "Change or delete all that is found" in docs/guide/queries.md).'

/** Nobody can tell which records are changed. */
function inDoubt(work: Background, error: ClientError, job: BackgroundJob | undefined): InDoubtError {
  const { entity, namespace, set } = work.command
  // The client's error holds the whole call with its values.
  error.command = 'query'
  const { code } = failureOf(error)
  const why =
    job !== undefined && job.begun > 0
      ? `only ${job.begun} of ${job.nodes.length} nodes have begun it`
      : 'an answer of the server was lost'
  return new InDoubtError(
    `The bulk operation on ${entity} may have been carried out completely, in part or not at all: ${why} (code ${code}).`,
    { className: entity, namespace, set, cause: error, fix: afterSome(work) },
  )
}

function givenUp(work: Background, status: string): SkeinError {
  const { entity, namespace, set } = work.command
  return new SkeinError('SKEIN_4204', `The server gave up changing the records of ${entity} (${status}).`, {
    className: entity,
    namespace,
    set,
    fix: `Some records may have been changed. ${afterSome(work)}`,
  })
}
