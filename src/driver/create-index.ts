import { SkeinError } from '../errors/index.js'
import type { Expression } from '../plan/expression.js'
import {
  calls,
  indexDataType,
  indexType,
  newContext,
  type AerospikeClient,
  type ClientError,
  type ClientIndex,
  type IndexJob,
} from './aerospike-client.js'
import { encodeExpression } from './encode-expression.js'
import { infoError } from './info-errors.js'

export type IndexedType = 'numeric' | 'string' | 'blob' | 'geo'
/** The indexed part: the bin itself, or the elements of the list or map in it. */
export type IndexedPart = 'value' | 'list' | 'mapKeys' | 'mapValues'

export interface IndexDefinition {
  readonly name: string
  readonly namespace: string
  readonly set: string
  readonly bin: string
  readonly type: IndexedType
  readonly part?: IndexedPart
  /** Keys of the maps that lead from the bin to the indexed value. */
  readonly steps?: readonly string[]
  /** A value that the server calculates, in place of a bin; `bin` is empty then. */
  readonly expression?: Expression
}

// The client cuts the last character of a 15-character name off, and the index would be on another bin.
const LONGEST_BIN = 14
// Some servers answer with these where others say that all is well.
const INDEX_EXISTS = 200
const INDEX_MISSING = 201

/** Creates a secondary index, unless the very same is there already, and waits until it can be queried. */
export async function createIndex(client: AerospikeClient, index: IndexDefinition): Promise<void> {
  await startIndex(client, index, (job) => job.wait(20))
}

/** Creates the index without waiting for it to be built. */
export async function startIndex(
  client: AerospikeClient,
  index: IndexDefinition,
  then?: (job: IndexJob) => Promise<unknown>,
): Promise<void> {
  checkIndex(index)
  try {
    const { bin, ...where } = clientIndex(index)
    const { expression } = index
    const job =
      expression === undefined
        ? await calls(client).createIndex({ bin, ...where })
        : await calls(client).createExpIndex({ ...where, exp: encodeExpression(expression) })
    await then?.(job)
  } catch (error) {
    if ((error as ClientError).code !== INDEX_EXISTS)
      throw infoError(`Index '${index.name}' was not created`, error as ClientError)
  }
}

/** Drops the index if it is there. */
export async function dropIndex(client: AerospikeClient, namespace: string, name: string): Promise<void> {
  try {
    await calls(client).indexRemove(namespace, name)
  } catch (error) {
    if ((error as ClientError).code !== INDEX_MISSING)
      throw infoError(`Index '${name}' was not dropped`, error as ClientError)
  }
}

const TYPE: Record<IndexedType, number> = {
  numeric: indexDataType.NUMERIC,
  string: indexDataType.STRING,
  blob: indexDataType.BLOB,
  geo: indexDataType.GEO2DSPHERE,
}
const PART: Record<IndexedPart, number> = {
  value: indexType.DEFAULT,
  list: indexType.LIST,
  mapKeys: indexType.MAPKEYS,
  mapValues: indexType.MAPVALUES,
}

function clientIndex({ name, namespace, set, bin, type, part = 'value', steps }: IndexDefinition): ClientIndex {
  const context = contextOfSteps(steps)
  return { index: name, ns: namespace, set, bin, type: PART[part], datatype: TYPE[type], ...(context && { context }) }
}

/** The path to an indexed value as the client takes it; undefined for the bin itself. */
export function contextOfSteps(steps: readonly string[] = []): object | undefined {
  if (steps.length === 0) return undefined
  const context = newContext()
  for (const step of steps) context.addMapKey(step)
  return context
}

function checkIndex({ name, bin, set }: IndexDefinition): void {
  if (Buffer.byteLength(bin) > LONGEST_BIN) {
    throw new SkeinError('SKEIN_2590', `Bin '${bin}' of index '${name}' has more than ${LONGEST_BIN} characters.`, {
      bin,
      fix: 'Give the indexed property a shorter bin name.',
    })
  }
  // Without a set the client sends whatever is in its memory.
  if (set === '') {
    throw new SkeinError('SKEIN_2590', `Index '${name}' has no set.`, { bin, fix: 'Name the set of the class.' })
  }
}
