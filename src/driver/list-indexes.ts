import { calls, type AerospikeClient, type ClientCalls, type ClientError } from './aerospike-client.js'
import { infoError, infoText } from './info-errors.js'
import type { IndexDefinition, IndexedPart, IndexedType } from './create-index.js'

/** An index as the server has it. */
export interface StoredIndex extends Required<Omit<IndexDefinition, 'steps' | 'expression'>> {
  /** The way from the bin to the indexed value, and the indexed expression, as the server shows them. */
  readonly context?: string
  readonly calculated?: string
  /** False while the server is still building it. */
  readonly isReady: boolean
}

const TYPES: { readonly [word: string]: IndexedType | undefined } = {
  numeric: 'numeric',
  int: 'numeric',
  string: 'string',
  text: 'string',
  blob: 'blob',
  geo2dsphere: 'geo',
  geojson: 'geo',
}
const PARTS: { readonly [word: string]: IndexedPart | undefined } = {
  default: 'value',
  none: 'value',
  list: 'list',
  mapkeys: 'mapKeys',
  mapvalues: 'mapValues',
}

/** The secondary indexes of a namespace. */
export async function listIndexes(client: AerospikeClient, namespace: string): Promise<StoredIndex[]> {
  const text = await calls(client)
    .infoAny(`sindex-list:ns=${namespace}`)
    .then(infoText)
    .catch((error: ClientError) => {
      throw infoError(`The indexes of namespace '${namespace}' could not be listed`, error)
    })
  return text.split(';').flatMap((line) => readIndex(line) ?? [])
}

/** Per cent of an index that is built, on the node that has come least far. */
export async function indexProgress(client: NodeInfo, namespace: string, name: string): Promise<number> {
  const answers = await aboutIndex(client, namespace, name)
  return Math.min(100, ...answers.map((info) => Number(/load_pct=(\d+)/.exec(info)?.[1] ?? 0)))
}

/** Entries of an index on all nodes, and how many of them one value has on average; undefined where the server does not tell. */
export async function indexStatistics(
  client: AerospikeClient,
  namespace: string,
  name: string,
): Promise<{ readonly entries: number; readonly entriesPerValue: number } | undefined> {
  const answers = await aboutIndex(calls(client), namespace, name)
  const sum = (field: string): number =>
    answers.reduce((total, info) => total + Number(new RegExp(`${field}=(\\d+)`).exec(info)?.[1] ?? 0), 0)
  const entriesPerValue = sum('entries_per_bval')
  return entriesPerValue === 0 ? undefined : { entries: sum('entries'), entriesPerValue }
}

type NodeInfo = Pick<ClientCalls, 'infoNode' | 'getNodes'>

/** Answers of all nodes about an index. The client's `infoAll` cuts a request at 49 bytes, and names of indexes are longer. */
function aboutIndex(client: NodeInfo, namespace: string, name: string): Promise<string[]> {
  return Promise.all(client.getNodes().map((node) => client.infoNode(`sindex/${namespace}/${name}`, node, {})))
}

function readIndex(line: string): StoredIndex | undefined {
  // Base64 may end with signs of its own.
  const pairs = line.split(':').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)])
  const field = Object.fromEntries(pairs) as Partial<Record<string, string>> & { ns: string; set: string; bin: string }
  const type = TYPES[field.type?.toLowerCase() ?? '']
  const part = PARTS[(field.indextype ?? 'default').toLowerCase()]
  if (field.indexname === undefined || type === undefined || part === undefined) return undefined
  const { indexname: name, ns: namespace, set, state, context, exp } = field
  const isCalculated = !isNull(exp)
  return {
    name,
    namespace,
    set,
    bin: isCalculated ? '' : field.bin,
    type,
    part,
    isReady: state === 'RW',
    ...(!isNull(context) && { context }),
    ...(isCalculated && { calculated: exp }),
  }
}

const isNull = (word: string | undefined): boolean => word === undefined || word.toLowerCase() === 'null'
