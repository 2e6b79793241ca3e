import type { AerospikeClient, ClientError, ClientNode } from './aerospike-client.js'
import { calls } from './aerospike-client.js'

/** A background operation on all nodes, as they tell of it. */
export interface BackgroundJob {
  readonly written: number
  readonly failed: number
  /** Share of the work that is done, from 0 to 1. */
  readonly share: number
  readonly isDone: boolean
  readonly nodes: number
  /** Nodes that have begun it. */
  readonly begun: number
  /** Status of a node that gave up. */
  readonly abandoned: string | undefined
}

const NOT_FOUND = 2
const INFO = { timeout: 10_000 }

/** Asks every node about the job with this id. */
export async function askJob(client: AerospikeClient, id: number): Promise<BackgroundJob> {
  const asked = calls(client)
    .getNodes()
    .map((node) => answerOf(client, node, id))
  const nodes = (await Promise.all(asked)).map(readAnswer)
  return {
    written: sum(nodes, ({ written }) => written),
    failed: sum(nodes, ({ failed }) => failed),
    share: sum(nodes, ({ share }) => share) / Math.max(1, nodes.length),
    isDone: nodes.every(({ isDone }) => isDone),
    nodes: nodes.length,
    begun: sum(nodes, ({ begun }) => begun),
    abandoned: nodes.find(({ abandoned }) => abandoned !== undefined)?.abandoned,
  }
}

/** Answer of a node about the job; empty where the node knows none, which the client makes an error. */
async function answerOf(client: AerospikeClient, node: ClientNode, id: number): Promise<string> {
  try {
    return await calls(client).infoNode(`query-show:id=${id}`, node, INFO)
  } catch (error) {
    if ((error as ClientError).code === NOT_FOUND) return ''
    throw error
  }
}

function readAnswer(info: string): Omit<BackgroundJob, 'nodes'> {
  const text = info.slice(info.indexOf('\t') + 1).trim()
  // A node that has none of the records may never have heard of the work.
  if (text.startsWith('ERROR:2') || text === '')
    return { written: 0, failed: 0, share: 1, isDone: true, begun: 0, abandoned: undefined }
  const field = (name: string): string => new RegExp(`(?:^|:)${name}=([^:;]*)`).exec(text)?.[1] ?? ''
  const status = field('status')
  const isDone = status.startsWith('done')
  return {
    written: Number(field('recs-succeeded')),
    failed: Number(field('recs-failed')),
    share: Number(field('job-progress')) / 100,
    isDone,
    begun: 1,
    abandoned: isDone && status !== 'done(ok)' ? status : undefined,
  }
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, each) => total + of(each), 0)
