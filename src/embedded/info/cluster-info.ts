import { PARTITIONS } from '../protocol/constants.js'
import type { Store } from '../store/store.js'
import { infoPairs } from './info-text.js'

/** What the official client's switches of behaviour depend on; see docs/internals/embedded.md. */
const BUILD = '8.1.2.0'
const GENERATION = '1'
const ALL_PARTITIONS = Buffer.alloc(PARTITIONS / 8, 0xff).toString('base64')
const FEATURES =
  'batch-any;batch-index;blob-bits;cdt-list;cdt-map;float;pipelining;pquery;pscans;query-show;sindex-exists;truncate-namespace'

/** What a client asks to find its cluster: one node, which owns every partition. */
export function clusterInfo(store: Store, name: string, argument: string): string | undefined {
  switch (name) {
    case 'node':
      return store.nodeId
    case 'build':
      return BUILD
    case 'edition':
      return edition(store)
    case 'version':
      return `${edition(store)} build ${BUILD}`
    case 'partition-generation':
    case 'peers-generation':
    case 'rebalance-generation':
      return GENERATION
    case 'peers-clear-std':
    case 'peers-clear-alt':
    case 'peers-tls-std':
    case 'peers-tls-alt':
      return `${GENERATION},3000,[]`
    case 'service':
    case 'service-clear-std':
    case 'service-clear-alt':
      return store.address
    case 'replicas':
      return [...store.namespaces.values()].map((namespace) => replicas(namespace.name, namespace.strong)).join(';')
    case 'rack-ids':
      return [...store.namespaces.keys()].map((namespace) => `${namespace}:0`).join(';')
    case 'racks':
      return [...store.namespaces.keys()].map((namespace) => `ns=${namespace}:rack_0=${store.nodeId}`).join(';')
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
      return statistics(store)
  }
  return undefined
}

function edition(store: Store): string {
  return store.enterprise ? 'Aerospike Enterprise Edition' : 'Aerospike Community Edition'
}

/** A regime other than 0 tells the client that the namespace is strongly consistent. */
function replicas(namespace: string, strong: boolean): string {
  return `${namespace}:${strong ? 1 : 0},1,${ALL_PARTITIONS}`
}

function statistics(store: Store): string {
  let objects = 0
  for (const namespace of store.namespaces.values()) objects += namespace.objects
  return infoPairs({
    cluster_size: 1,
    cluster_key: 1,
    cluster_integrity: true,
    cluster_is_member: true,
    cluster_principal: store.nodeId,
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
