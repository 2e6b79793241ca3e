import { readFileSync } from 'node:fs'
import type Aerospike from 'aerospike'

/** The recordings and their codec are plain files that stay where they are when the tests are compiled. */
const here = new URL('../../../test/golden/', import.meta.url)

interface Codec {
  decodeBins(client: typeof Aerospike, bins: unknown): Record<string, Aerospike.AerospikeBinValue>
  encode(value: unknown): unknown
  buildOp(client: typeof Aerospike, call: unknown): Aerospike.operations.Operation
  buildExp(client: typeof Aerospike, expression: unknown): Aerospike.AerospikeExp
  runCommand(client: typeof Aerospike, connected: Aerospike.Client, keyOf: KeyOf, command: Command): Promise<unknown>
  recordKey(client: typeof Aerospike, set: string, id: number): Aerospike.Key
  groupSet(group: number): string
  loadGroup(client: typeof Aerospike, connected: Aerospike.Client, group: unknown): Promise<void>
  runQuery(
    client: typeof Aerospike,
    connected: Aerospike.Client,
    group: number,
    query: unknown,
    all: unknown,
  ): Promise<unknown>
  truncateSet(client: typeof Aerospike, connected: Aerospike.Client, set: string, cut: unknown): Promise<void>
  runTruncate(client: typeof Aerospike, connected: Aerospike.Client, cut: unknown): Promise<unknown>
  pause(milliseconds: number): Promise<void>
}

/** Headed by its name; records are numbers. */
export type Command = readonly [string, ...unknown[]]
export type KeyOf = (record: number) => Aerospike.Key

export const codec = (await import(new URL('codec.mjs', here).href)) as Codec

/** Reads a recorded case from each line of the file. */
export function goldenCases<T>(file: string): T[] {
  const lines = readFileSync(new URL(file, here), 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as T)
}

/** Copies by way of JSON: without undefined properties. */
export function plain(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer))
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
