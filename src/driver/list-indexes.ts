import { calls, type AerospikeClient } from './aerospike-client.js'
import type { IndexDefinition, IndexedPart, IndexedType } from './create-index.js'

/** An index as the server has it. */
export interface StoredIndex extends Required<IndexDefinition> {
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

/** The secondary indexes of a namespace; those on nested values or expressions are nobody's here and left out. */
export async function listIndexes(client: AerospikeClient, namespace: string): Promise<StoredIndex[]> {
  const answer = await calls(client).infoAny(`sindex-list:ns=${namespace}`)
  const text = answer.slice(answer.indexOf('\t') + 1).trim()
  return text.split(';').flatMap((line) => readIndex(line) ?? [])
}

/** Per cent of an index that is built, on the node that has come least far. */
export async function indexProgress(client: AerospikeClient, namespace: string, name: string): Promise<number> {
  const answers = await calls(client).infoAll(`sindex/${namespace}/${name}`)
  return Math.min(...answers.map(({ info }) => Number(/load_pct=(\d+)/.exec(info)?.[1] ?? 0)))
}

/** Entries of an index on all nodes, and how many of them one value has on average; undefined where the server does not tell. */
export async function indexStatistics(
  client: AerospikeClient,
  namespace: string,
  name: string,
): Promise<{ readonly entries: number; readonly entriesPerValue: number } | undefined> {
  const answers = await calls(client).infoAll(`sindex/${namespace}/${name}`)
  const sum = (field: string): number =>
    answers.reduce((total, { info }) => total + Number(new RegExp(`${field}=(\\d+)`).exec(info)?.[1] ?? 0), 0)
  const entriesPerValue = sum('entries_per_bval')
  return entriesPerValue === 0 ? undefined : { entries: sum('entries'), entriesPerValue }
}

function readIndex(line: string): StoredIndex | undefined {
  const field = Object.fromEntries(line.split(':').map((pair) => pair.split('=') as [string, string]))
  const type = TYPES[field.type?.toLowerCase()]
  const part = PARTS[(field.indextype ?? 'default').toLowerCase()]
  const isPlain = isNull(field.context) && isNull(field.exp)
  if (field.indexname === undefined || type === undefined || part === undefined || !isPlain) return undefined
  const { indexname: name, ns: namespace, set, bin, state } = field
  return { name, namespace, set, bin, type, part, isReady: state === 'RW' }
}

const isNull = (word: string | undefined): boolean => word === undefined || word.toLowerCase() === 'null'
