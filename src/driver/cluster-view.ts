import { calls, type AerospikeClient, type ClientNode } from './aerospike-client.js'
import { infoText } from './info-errors.js'

const PARTITIONS = 4096
const INFO = { timeout: 2000 }

/** The nodes of a cluster and the partitions that each is the master of, in one namespace. */
export interface ClusterView {
  readonly nodes: ReadonlyMap<string, NodeView>
  /** True where the client knows all nodes, and each partition has one master among them. */
  readonly isWhole: boolean
}

interface NodeView {
  /** The server names each composition of its cluster anew. */
  readonly clusterKey: string
  readonly clusterSize: number
  /** A bit for each partition, in base64. */
  readonly masters: string
}

/** Asks all nodes that the client knows. */
export async function viewCluster(client: AerospikeClient, namespace: string): Promise<ClusterView> {
  const asked = calls(client)
    .getNodes()
    .map(async (node) => [node.name, await viewNode(client, node, namespace)] as const)
  const nodes = new Map(await Promise.all(asked))
  return { nodes, isWhole: isWhole([...nodes.values()]) }
}

/** True where no node has come, gone or restarted between both views, and no partition has another master. */
export function isSameCluster(one: ClusterView, other: ClusterView): boolean {
  if (one.nodes.size !== other.nodes.size) return false
  return [...one.nodes].every(([name, { clusterKey, masters }]) => {
    const node = other.nodes.get(name)
    return node?.clusterKey === clusterKey && node.masters === masters
  })
}

async function viewNode(client: AerospikeClient, node: ClientNode, namespace: string): Promise<NodeView> {
  const info = async (request: string): Promise<string> => infoText(await calls(client).infoNode(request, node, INFO))
  const [statistics, replicas] = await Promise.all([info('statistics'), info('replicas')])
  const statistic = (name: string): string => new RegExp(`(?:^|;)${name}=([^;]*)`).exec(statistics)?.[1] ?? ''
  return {
    clusterKey: statistic('cluster_key'),
    clusterSize: Number(statistic('cluster_size')),
    masters: mastersOf(replicas, namespace),
  }
}

/** `namespace:regime,count,masters,replicas…;…` */
function mastersOf(replicas: string, namespace: string): string {
  const entry = replicas.split(';').find((each) => each.startsWith(`${namespace}:`))
  return entry?.split(',')[2] ?? ''
}

function isWhole(nodes: readonly NodeView[]): boolean {
  const [first] = nodes
  if (first === undefined) return false
  if (nodes.some((node) => node.clusterKey !== first.clusterKey || node.clusterSize !== nodes.length)) return false
  const masters = nodes.map((node) => Buffer.from(node.masters, 'base64'))
  for (let at = 0; at < PARTITIONS / 8; at++) {
    let [seen, sum] = [0, 0]
    for (const bits of masters) {
      seen |= bits[at] ?? 0
      sum += bits[at] ?? 0
    }
    // Equal only where no two nodes claim the same partition.
    if (seen !== 0xff || sum !== 0xff) return false
  }
  return true
}
