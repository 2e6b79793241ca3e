import { buildText, hasFeature } from '../build.js'
import type { MemberNode } from '../cluster/cluster.js'
import { PARTITIONS } from '../protocol/constants.js'
import type { Store } from '../store/store.js'
import { infoPairs } from './info-text.js'
import { replicationFactor } from './replication-factor.js'

const FEATURES =
  'batch-any;batch-index;blob-bits;cdt-list;cdt-map;float;pipelining;pquery;pscans;query-show;sindex-exists;truncate-namespace'

/** Answers that a client needs to find its cluster: the other nodes, and which partitions this one holds. */
export function clusterInfo(store: Store, name: string, argument: string, node: MemberNode): string | undefined {
  switch (name) {
    case 'node':
      return node.id
    case 'build':
      return buildText()
    case 'edition':
      return edition(store)
    case 'release':
      return hasFeature('releaseInfo') ? infoPairs({ edition: edition(store), version: buildText() }) : undefined
    case 'version':
      return `${edition(store)} build ${buildText()}`
    case 'partition-generation':
    case 'peers-generation':
    case 'rebalance-generation':
      return String(node.cluster.generation)
    case 'peers-clear-std':
    case 'peers-clear-alt':
    case 'peers-tls-std':
    case 'peers-tls-alt':
      return peers(node)
    case 'service':
    case 'service-clear-std':
    case 'service-clear-alt':
      return node.address
    case 'replicas':
      return [...store.namespaces.values()]
        .map((namespace) => replicas(namespace.name, namespace.strong, node))
        .join(';')
    case 'rack-ids':
      return [...store.namespaces.keys()].map((namespace) => `${namespace}:0`).join(';')
    case 'racks':
      return [...store.namespaces.keys()].map((namespace) => `ns=${namespace}:rack_0=${members(node)}`).join(';')
    case 'partitions':
      return String(PARTITIONS)
    case 'cluster-name':
      return 'null'
    case 'user-agent-set':
      return isBase64(argument.replace(/^value=/, '')) ? 'ok' : 'ERROR:4:bad user agent'
    case 'features':
      return FEATURES
    case 'status':
      return 'ok'
    case 'statistics':
      return statistics(store, node)
  }
  return undefined
}

function edition(store: Store): string {
  return store.enterprise ? 'Aerospike Enterprise Edition' : 'Aerospike Ce Edition'
}

const members = ({ cluster }: MemberNode): string => cluster.members.map(({ id }) => id).join(',')

/** `generation,default port,[[id,TLS name,[address]],…]`: all nodes but this one. */
function peers(node: MemberNode): string {
  const others = node.cluster.members.filter((member) => member !== node)
  return `${node.cluster.generation},3000,[${others.map(({ id, address }) => `[${id},,[${address}]]`).join(',')}]`
}

/** A regime other than 0 tells the client that the namespace is strongly consistent; a higher one wins over what it knew. */
function replicas(namespace: string, strong: boolean, { cluster, index }: MemberNode): string {
  const regime = strong ? cluster.generation : 0
  const bitmaps = cluster.map.bitmaps(index).slice(0, replicationFactor(cluster))
  return `${namespace}:${regime},${bitmaps.length},${bitmaps.join(',')}`
}

function statistics(store: Store, node: MemberNode): string {
  let objects = 0
  for (const namespace of store.namespaces.values()) objects += namespace.objects
  return infoPairs({
    cluster_size: node.cluster.members.length,
    cluster_key: node.cluster.key,
    cluster_integrity: true,
    cluster_is_member: true,
    cluster_principal: node.cluster.members[0]?.id ?? node.id,
    migrate_partitions_remaining: 0,
    objects,
    uptime: Math.floor(process.uptime()),
    client_connections: store.connections,
    namespaces: store.namespaces.size,
  })
}

function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text)
}
