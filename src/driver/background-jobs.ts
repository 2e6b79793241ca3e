import type { AerospikeClient, ClientError, ClientNode } from './aerospike-client.js'
import { calls } from './aerospike-client.js'
import { infoText } from './info-errors.js'

/** Share of one node in a background operation, as it reports it. */
interface NodeJob {
  readonly name: string
  readonly written: number
  readonly failed: number
  /** Share of the work that is done, from 0 to 1. */
  readonly share: number
  readonly isDone: boolean
  readonly hasBegun: boolean
  /** Status of a node that gave up. */
  readonly abandoned: string | undefined
}

/** A background operation on all nodes. */
export interface BackgroundJob extends Pick<NodeJob, 'written' | 'failed' | 'share' | 'isDone' | 'abandoned'> {
  readonly nodes: readonly NodeJob[]
  /** Nodes that have begun it. */
  readonly begun: number
}

const NOT_FOUND = 2
const INFO = { timeout: 10_000 }

/** Asks every node about the job with this id. */
export async function askJob(client: AerospikeClient, id: number): Promise<BackgroundJob> {
  const asked = calls(client)
    .getNodes()
    .map(async (node) => readAnswer(node, await answerOf(client, node, id)))
  const nodes = await Promise.all(asked)
  return {
    nodes,
    begun: nodes.filter(({ hasBegun }) => hasBegun).length,
    written: sum(nodes, ({ written }) => written),
    failed: sum(nodes, ({ failed }) => failed),
    share: sum(nodes, ({ share }) => share) / Math.max(1, nodes.length),
    isDone: nodes.every(({ isDone }) => isDone),
    abandoned: nodes.find(({ abandoned }) => abandoned !== undefined)?.abandoned,
  }
}

/**
 * Records that the starts of one operation have written, each of which has ended on a node before the next begins there: a value that
 * is written again counts once, and so does one that is no longer found because the update has ended its own condition.
 */
export function countWritten(starts: readonly BackgroundJob[]): number {
  const byNode = new Map<string, number>()
  for (const { name, written } of starts.flatMap(({ nodes }) => nodes))
    byNode.set(name, Math.max(written, byNode.get(name) ?? 0))
  return sum([...byNode.values()], (written) => written)
}

/** Answer of a node about the job; empty where the node knows none, which the client makes an error. */
async function answerOf(client: AerospikeClient, node: ClientNode, id: number): Promise<string> {
  try {
    return infoText(await calls(client).infoNode(`query-show:id=${id}`, node, INFO))
  } catch (error) {
    if ((error as ClientError).code === NOT_FOUND) return ''
    throw error
  }
}

function readAnswer({ name }: ClientNode, text: string): NodeJob {
  // A node that has none of the records may never have received the work.
  if (text.startsWith('ERROR:2') || text === '')
    return { name, written: 0, failed: 0, share: 1, isDone: true, hasBegun: false, abandoned: undefined }
  const field = (key: string): string => new RegExp(`(?:^|:)${key}=([^:;]*)`).exec(text)?.[1] ?? ''
  const status = field('status')
  const isDone = status.startsWith('done')
  return {
    name,
    written: Number(field('recs-succeeded')),
    failed: Number(field('recs-failed')),
    share: Number(field('job-progress')) / 100,
    isDone,
    hasBegun: true,
    abandoned: isDone && status !== 'done(ok)' ? status : undefined,
  }
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, each) => total + of(each), 0)
