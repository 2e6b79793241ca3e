import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { Namespace } from '../store/namespace.js'
import type { SecondaryIndex } from '../store/secondary-index.js'
import { describeIndex, parseIndexDefinition } from './index-text.js'
import { infoPairs, infoParameters } from './info-text.js'

/** Store, as commands about indexes see it. */
export interface IndexStore {
  readonly namespaces: ReadonlyMap<string, Namespace>
  readonly journal?: { index(definition: string): void; noIndex(namespace: string, name: string): void } | undefined
}

/** Creates, drops and describes secondary indexes. */
export function sindexInfo(store: IndexStore, name: string, argument: string): string | undefined {
  switch (name) {
    case 'sindex-create':
      return createIndex(store, argument)
    case 'sindex-delete':
      return remove(store, infoParameters(argument))
    case 'sindex-stat':
      return stat(store, infoParameters(argument))
    case 'sindex-exists':
      return exists(store, infoParameters(argument))
    case 'sindex-list':
      return list(store, namespaceName(infoParameters(argument)))
    case 'sindex':
      return legacy(store, argument)
  }
  return undefined
}

const MAX_INDEX_NAME = 255

type Parameters = ReadonlyMap<string, string>

export function namespaceName(parameters: Parameters): string | undefined {
  return parameters.get('namespace') ?? parameters.get('ns')
}

/** `argument` holds the parameters as they came. */
export function createIndex(store: IndexStore, argument: string): string {
  const parameters = infoParameters(argument)
  const indexName = parameters.get('indexname')
  if (!indexName) return missing('indexname')
  const wanted = namespaceName(parameters)
  if (!wanted) return missing('namespace')
  if (!isIndexName(indexName)) return "ERROR:4:bad 'indexname'"
  try {
    const definition = parseIndexDefinition(parameters)
    // A real server notes indexes for namespaces that only other nodes have, so it does not mind an unknown one.
    const namespace = store.namespaces.get(wanted)
    if (namespace) store.journal?.index(argument)
    namespace?.indexes.create(indexName, definition)
    return 'ok'
  } catch (error) {
    if (error instanceof CommandError) return `ERROR:${error.code}:${error.message}`
    throw error
  }
}

function remove(store: IndexStore, parameters: Parameters): string {
  const indexName = parameters.get('indexname')
  if (!indexName) return missing('indexname')
  const namespace = store.namespaces.get(namespaceName(parameters) ?? '')
  if (namespace?.indexes.get(indexName) === undefined) return 'ok'
  store.journal?.noIndex(namespace.name, indexName)
  namespace.indexes.delete(indexName)
  return 'ok'
}

function exists(store: IndexStore, parameters: Parameters): string {
  const namespace = store.namespaces.get(namespaceName(parameters) ?? '')
  if (namespace === undefined) return 'ERROR:4:unknown namespace'
  const indexName = parameters.get('indexname')
  if (!indexName) return missing('indexname')
  return String(namespace.indexes.get(indexName) !== undefined)
}

function stat(store: IndexStore, parameters: Parameters): string {
  const namespace = store.namespaces.get(namespaceName(parameters) ?? '')
  if (namespace === undefined) return 'ERROR:4:unknown namespace'
  return statistics(namespace.indexes.get(parameters.get('indexname') ?? ''))
}

function statistics(index: SecondaryIndex | undefined): string {
  if (index === undefined) return `ERROR:${ResultCode.INDEX_NOT_FOUND}:no index`
  return infoPairs({
    entries: index.entryCount,
    used_bytes: 0,
    entries_per_bval: index.entriesPerValue,
    entries_per_rec: 0,
    load_pct: index.loadPercent,
    load_time: 0,
    stat_gc_recs: 0,
  })
}

function list(store: IndexStore, wanted: string | undefined): string {
  const namespaces: (Namespace | undefined)[] =
    wanted === undefined ? [...store.namespaces.values()] : [store.namespaces.get(wanted)]
  if (namespaces[0] === undefined) return 'ERROR:4:unknown namespace'
  return namespaces.flatMap((namespace) => namespace!.indexes.all().map(describeIndex)).join(';')
}

/** `sindex`, `sindex/<namespace>`, `sindex/<namespace>/<index>`: what the Node client polls. */
function legacy(store: IndexStore, argument: string): string {
  const [wanted = '', indexName] = argument.split('/')
  if (indexName === undefined) return list(store, wanted === '' ? undefined : wanted)
  return statistics(store.namespaces.get(wanted)?.indexes.get(indexName))
}

/** Lists of indexes are cut at colons. */
function isIndexName(name: string): boolean {
  return Buffer.byteLength(name) <= MAX_INDEX_NAME && !name.includes(':')
}

function missing(parameter: string): string {
  return `ERROR:4:missing '${parameter}'`
}
