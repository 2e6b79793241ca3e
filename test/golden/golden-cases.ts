import { readFileSync } from 'node:fs'
import type Aerospike from 'aerospike'

/** The recordings and their codec are plain files that stay where they are when the tests are compiled. */
const here = new URL('../../../test/golden/', import.meta.url)

interface Codec {
  decodeBins(client: typeof Aerospike, bins: unknown): Record<string, Aerospike.AerospikeBinValue>
  encode(value: unknown): unknown
  buildOp(client: typeof Aerospike, call: unknown): Aerospike.operations.Operation
  buildExp(client: typeof Aerospike, expression: unknown): Aerospike.AerospikeExp
}

export const codec = (await import(new URL('codec.mjs', here).href)) as Codec

/** One recorded case for each line of the file. */
export function goldenCases<T>(file: string): T[] {
  const lines = readFileSync(new URL(file, here), 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as T)
}

/** Runs `work` for every item, at most `limit` at a time: the client has 100 connections. */
export async function eachConcurrently<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  await Promise.all(
    Array.from({ length: limit }, async () => {
      for (const item of queue) await work(item)
    }),
  )
}
