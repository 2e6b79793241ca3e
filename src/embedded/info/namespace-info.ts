import { hasFeature } from '../build.js'
import type { MemberNode } from '../cluster/cluster.js'
import type { Namespace } from '../store/namespace.js'
import type { Store } from '../store/store.js'
import { infoPairs, infoParameters } from './info-text.js'
import { replicationFactor } from './replication-factor.js'

/** Info about namespaces and sets. */
export function namespaceInfo(store: Store, name: string, argument: string, node: MemberNode): string | undefined {
  switch (name) {
    case 'namespaces':
      return [...store.namespaces.keys()].join(';')
    case 'namespace':
      return describe(store, argument, node)
    case 'get-config': {
      const parameters = infoParameters(argument)
      if (parameters.get('context') !== 'namespace') return infoPairs({ 'proto-fd-max': 15000 })
      return describe(store, parameters.get('id') ?? parameters.get('namespace') ?? '', node)
    }
    case 'sets':
      return sets(store, argument, node)
  }
  return undefined
}

function describe(store: Store, name: string, node: MemberNode): string {
  const namespace = store.namespaces.get(name)
  if (namespace === undefined) return 'type=unknown'
  const { options, limits } = namespace
  return infoPairs({
    objects: namespace.objects,
    tombstones: 0,
    master_objects: namespace.objects,
    'strong-consistency': namespace.strong,
    'strong-consistency-allow-expunge': options.allowExpunge,
    'replication-factor': replicationFactor(node.cluster),
    effective_replication_factor: replicationFactor(node.cluster),
    'default-ttl': options.defaultTtl,
    'nsup-period': options.nsupPeriod,
    'allow-ttl-without-nsup': false,
    ...(hasFeature('transactions') && { 'mrt-duration': limits.transactionTimeout }),
    [hasFeature('maxRecordSizeInfo') ? 'max-record-size' : 'storage-engine.write-block-size']: limits.maxRecordSize,
    'storage-engine': 'memory',
    dead_partitions: 0,
    unavailable_partitions: 0,
    stop_writes: false,
  })
}

/** `sets`, `sets/<namespace>`, `sets/<namespace>/<set>`; the last form leaves out the names. */
function sets(store: Store, argument: string, node: MemberNode): string {
  const [namespaceName = '', setName] = argument.split('/')
  if (argument === '') return [...store.namespaces.values()].map((each) => listSets(each, node)).join('')
  const namespace = store.namespaces.get(namespaceName)
  if (namespace === undefined) return 'ERROR:4:unknown namespace'
  if (setName === undefined) return listSets(namespace, node)
  const objects = namespace.objectsBySet.get(setName)
  return objects === undefined || !isKnown(namespace, setName, node) ? '' : `${describeSet(objects)};`
}

const isKnown = (namespace: Namespace, setName: string, node: MemberNode): boolean =>
  namespace.hasSet(setName, (partition) => node.holds(partition))

function listSets(namespace: Namespace, node: MemberNode): string {
  return [...namespace.objectsBySet]
    .filter(([setName]) => setName !== '' && isKnown(namespace, setName, node))
    .map(([setName, objects]) => `ns=${namespace.name}:set=${setName}:${describeSet(objects)};`)
    .join('')
}

function describeSet(objects: number): string {
  return (
    `objects=${objects}:tombstones=0:data_used_bytes=0:truncate_lut=0:sindexes=0:index_populating=false:` +
    'truncating=false:default-ttl=0:disable-eviction=false:enable-index=false:stop-writes-count=0:stop-writes-size=0'
  )
}
