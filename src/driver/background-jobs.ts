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
  /** True where the node has gone, or forgotten the job, before it was seen to end. */
  readonly isLost: boolean
  /** Status of a node that gave up. */
  readonly abandoned: string | undefined
}

/** A background operation on all nodes. */
export interface BackgroundJob extends Pick<NodeJob, 'written' | 'failed' | 'share' | 'isDone' | 'abandoned'> {
  /** Also those that have gone meanwhile. */
  readonly nodes: readonly NodeJob[]
  /** Nodes that have begun it. */
  readonly begun: number
}

const NOT_FOUND = 2
/** Short beside `retry.deadline`: a frozen node leaves the cluster meanwhile, and need not be asked again. */
const INFO = { timeout: 2000 }

/** Asks every node about the job with this id; `before` is what they have said about it the last time. */
export async function askJob(client: AerospikeClient, id: number, before?: BackgroundJob): Promise<BackgroundJob> {
  const former = new Map(before?.nodes.map((node) => [node.name, node]))
  const known = calls(client).getNodes()
  const asked = known.map(async (node) => {
    const answer = readAnswer(node, await answerOf(client, node, id))
    const last = former.get(node.name)
    return !answer.hasBegun && last?.hasBegun ? afterwards(last) : answer
  })
  const names = new Set(known.map(({ name }) => name))
  const gone = [...former.values()].filter(({ name }) => !names.has(name))
  const nodes = [...(await Promise.all(asked)), ...gone.map(afterwards)]
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

/** The rest of a job that its node no longer knows: a server remembers only the latest that have ended, and none after a restart. */
const afterwards = (last: NodeJob): NodeJob => ({ ...last, isDone: true, isLost: last.isLost || !last.isDone })

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
    return { name, written: 0, failed: 0, share: 1, isDone: true, hasBegun: false, isLost: false, abandoned: undefined }
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
    isLost: false,
    abandoned: isDone && status !== 'done(ok)' ? status : undefined,
  }
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, each) => total + of(each), 0)
