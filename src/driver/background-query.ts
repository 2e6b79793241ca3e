import type { QueryCommand } from '../plan/query-command.js'
import { calls, type AerospikeClient, type ClientError } from './aerospike-client.js'
import { givenUp, inDoubt } from './background-errors.js'
import { askJob, type BackgroundJob } from './background-jobs.js'
import { writtenIn, type BackgroundOperation } from './background-written.js'
import { clientOperation } from './client-operations.js'
import { isSameCluster, viewCluster, type ClusterView } from './cluster-view.js'
import { failureOf, isWithoutNodes } from './command-errors.js'
import type { RetryOptions } from './options.js'
import type { Policies } from './policies.js'
import { clientQuery } from './query-runner.js'
import { queryError } from './query-errors.js'
import { Tries } from './retry.js'
import { CODE, isNoAnswer, isTransient } from './status.js'

export type { BackgroundOperation }

/** Progress of a background operation, on all nodes. */
export interface BackgroundProgress {
  readonly written: number
  /** Records that could not be written, for instance because a transaction holds them. */
  readonly failed: number
  /** Share of the work that is done, from 0 to 1. */
  readonly share: number
  readonly isDone: boolean
}

export interface BackgroundOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: BackgroundProgress) => unknown
}

interface BackgroundParts {
  readonly client: AerospikeClient
  readonly policies: Policies
  readonly retry: RetryOptions
}

/** Starts of an operation while the cluster stayed as it was: the last of them has reached every node. */
interface Round {
  readonly view: ClusterView
  readonly ids: number[]
  /** Last answers about each start. */
  jobs: readonly BackgroundJob[]
}

/** A background operation that is being started and waited for. */
interface Background extends BackgroundParts {
  readonly command: QueryCommand
  readonly operations: readonly BackgroundOperation[]
  readonly policy: ReturnType<Policies['background']>
  readonly signal: AbortSignal | undefined
  /** True where doing it twice changes nothing. */
  readonly isRepeatable: boolean
  readonly rounds: Round[]
}

/** The record's expiry stays as it is. */
const KEEP_TTL = -2
const SHORTEST_WAIT = 5
const LONGEST_WAIT = 500
/** Changes of the cluster after each of which an operation is started again. */
const MOST_ROUNDS = 10
const CLUSTER_CHANGED = 'nodes came or went, or partitions moved to other nodes, while it ran'

/**
 * Lets the server change all records that a query finds, and waits until it is done. Each node changes the records of the partitions that
 * it is the master of when it comes to them: only a cluster that stays as it is changes each record once. The signal ends the waiting; what
 * the server has begun, it finishes.
 */
export async function runBackground(
  parts: BackgroundParts,
  command: QueryCommand,
  operations: readonly BackgroundOperation[],
  durableDelete: boolean,
  { signal, onProgress }: BackgroundOptions = {},
): Promise<BackgroundProgress> {
  const { filter } = clientQuery({ ...command, bins: 'all' })
  const policy = parts.policies.background(filter, durableDelete)
  const isRepeatable = operations.every(({ kind }) => kind !== 'addToBin')
  const work: Background = { ...parts, command, operations, policy, signal, isRepeatable, rounds: [] }
  for (;;) {
    await start(work)
    const progress = await untilDone(work, onProgress)
    if (await isUndisturbed(work)) {
      await onProgress?.(progress)
      return progress
    }
    const most = Math.min(MOST_ROUNDS, work.retry.attempts)
    if (!isRepeatable || work.rounds.length >= most) throw inDoubt(work, CLUSTER_CHANGED)
  }
}

/** Begins a round, whose last start has reached every node. */
async function start(work: Background): Promise<void> {
  const { command, retry, isRepeatable, rounds, signal } = work
  let tries: Tries | undefined
  let isDoubtful = rounds.length > 0
  for (let round: Round | undefined; ;) {
    const view = await settledView(work, isDoubtful)
    if (round === undefined || !isSameCluster(round.view, view)) rounds.push((round = { view, ids: [], jobs: [] }))
    signal?.throwIfAborted()
    const id = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER)
    round.ids.push(id)
    const error = await send(work, id)
    if (error === undefined) return
    const { code } = failureOf(error)
    // The nodes know better than a lost answer whether they have begun.
    const job = await askJob(work.client, id).catch(() => undefined)
    const hasBegun = job !== undefined && job.begun > 0
    if (hasBegun && job.begun === job.nodes.length) return
    isDoubtful ||= job === undefined || hasBegun || (isNoAnswer(code) && !isWithoutNodes(error))
    // Other nodes have taken the same command, so it is the moment that a node refuses it for.
    const wait = isRepeatable && (hasBegun || isTransient(code)) ? (tries ??= new Tries()).next(retry) : undefined
    if (wait !== undefined) {
      await rest(wait)
      await untilEnded(work, round)
      continue
    }
    // A missing index is reported as such where all of it may be done again.
    const isAboutIndex = code === CODE.INDEX_NOT_FOUND || code === CODE.INDEX_NOT_READABLE
    if (!isDoubtful || (isRepeatable && isAboutIndex)) throw queryError(command, error)
    const begun = hasBegun ? `only ${job.begun} of ${job.nodes.length} nodes have begun it` : undefined
    throw inDoubt(work, begun ?? 'an answer of the server was lost', error)
  }
}

/** The cluster once it is whole: a partition without a master would be left out. */
async function settledView(work: Background, isDoubtful: boolean): Promise<ClusterView> {
  let tries: Tries | undefined
  for (;;) {
    work.signal?.throwIfAborted()
    const view = await viewCluster(work.client, work.command.namespace).catch((error: unknown) => error as ClientError)
    if ('isWhole' in view && view.isWhole) return view
    const error = 'isWhole' in view ? unavailable() : view
    const wait = isTransient(failureOf(error).code) ? (tries ??= new Tries()).next(work.retry) : undefined
    if (wait === undefined) throw isDoubtful ? inDoubt(work, CLUSTER_CHANGED, error) : queryError(work.command, error)
    await rest(wait)
  }
}

/** Waits until every node that is there has ended, so that no record is counted by two starts. */
async function untilEnded(work: Background, round: Round): Promise<void> {
  for (let pause = SHORTEST_WAIT; ; pause = Math.min(2 * pause, LONGEST_WAIT)) {
    work.signal?.throwIfAborted()
    const jobs = await askJobs(work, round).catch(() => undefined)
    if (jobs === undefined || jobs.every(({ isDone }) => isDone)) return
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

/** Waits for the starts of the last round, and reports all progress but the last, which is not known to be complete. */
async function untilDone(
  work: Background,
  onProgress: ((progress: BackgroundProgress) => unknown) | undefined,
): Promise<BackgroundProgress> {
  let tries: Tries | undefined
  for (let pause = SHORTEST_WAIT; ; pause = Math.min(2 * pause, LONGEST_WAIT)) {
    work.signal?.throwIfAborted()
    const progress = await again(work, (tries ??= new Tries()), () => progressOf(work))
    if (progress !== undefined) {
      tries = undefined
      if (progress.isDone) return progress
      await onProgress?.(progress)
    }
    await rest(pause)
  }
}

/** True where the cluster is as it was when the last round began, and every node that had begun has ended. */
async function isUndisturbed(work: Background): Promise<boolean> {
  const { view, jobs } = work.rounds.at(-1)!
  if (jobs.some(({ nodes }) => nodes.some(({ isLost }) => isLost))) return false
  for (const tries = new Tries(); ;) {
    const now = await again(work, tries, () => viewCluster(work.client, work.command.namespace))
    if (now !== undefined) return isSameCluster(view, now)
  }
}

/** Undefined where the nodes have to be asked again. */
async function again<T>(work: Background, tries: Tries, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (typeof (error as Partial<ClientError>).code !== 'number') throw error
    const wait = isTransient(failureOf(error as ClientError).code) ? tries.next(work.retry) : undefined
    if (wait === undefined) throw inDoubt(work, 'an answer of the server was lost', error as ClientError)
    await rest(wait)
    return undefined
  }
}

async function askJobs({ client }: Background, round: Round): Promise<readonly BackgroundJob[]> {
  return (round.jobs = await Promise.all(round.ids.map((id, i) => askJob(client, id, round.jobs[i]))))
}

/** Progress of the last start, with what those before it have written. */
async function progressOf(work: Background): Promise<BackgroundProgress> {
  const { command, operations, rounds } = work
  // Starts of former rounds that nobody could be asked about may still run on nodes that have stayed.
  const asked = await Promise.all(rounds.map((round) => askJobs(work, round)))
  const jobs = asked.at(-1)!
  const { failed, share, abandoned } = jobs.at(-1)!
  if (abandoned !== undefined) throw givenUp(work, abandoned)
  const written = writtenIn(
    rounds.map((round) => round.jobs),
    command,
    operations,
  )
  return { written, failed, share, isDone: asked.flat().every(({ isDone }) => isDone) }
}

const rest = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

const unavailable = (): ClientError =>
  Object.assign(new Error('No node is the master of some partitions.'), { code: CODE.PARTITION_UNAVAILABLE })
