import Aerospike, { type AerospikeBins, type AerospikeRecord, type Client, type Query } from 'aerospike'

const { indexDataType, indexType } = Aerospike

export type Context = InstanceType<typeof Aerospike.cdt.Context>

interface IndexOptions {
  readonly set?: string
  readonly bin: string
  readonly type?: keyof typeof indexType
  readonly datatype?: 'NUMERIC' | 'STRING' | 'BLOB'
  readonly context?: Context
}

/** Creates an index and waits until it can be used. */
export async function createIndex(client: Client, name: string, options: IndexOptions): Promise<void> {
  const { set = 'demo', bin, type = 'DEFAULT', datatype = 'NUMERIC', context } = options
  const job = await client.createIndex({
    ns: 'test',
    set,
    bin,
    index: name,
    type: indexType[type],
    datatype: indexDataType[datatype],
    context,
  })
  await job.wait(5)
}

/** Writes many records in few calls; each gets its number as user key and is stored with it. */
export async function putAll(
  client: Client,
  set: string,
  count: number,
  binsOf: (id: number) => AerospikeBins,
  from = 0,
): Promise<void> {
  const ROWS = 2000
  for (let start = from; start < from + count; start += ROWS) {
    const rows = Array.from({ length: Math.min(ROWS, from + count - start) }, (_, i) => ({
      type: Aerospike.batchType.BATCH_WRITE,
      key: new Aerospike.Key('test', set, start + i),
      ops: Object.entries(binsOf(start + i)).map(([bin, value]) => Aerospike.operations.write(bin, value)),
      policy: new Aerospike.BatchWritePolicy({ key: Aerospike.policy.key.SEND }),
    }))
    await client.batchWrite(rows, { totalTimeout: 30_000 })
  }
}

/** The values of one bin in all results of a query, sorted. */
export async function valuesOf<T extends number | string>(query: Query, bin: string): Promise<T[]> {
  const records = await query.results()
  return sorted(records.map((record) => record.bins[bin] as T))
}

/** The user keys of all results, sorted. */
export async function keysOf(query: Query): Promise<number[]> {
  return sorted((await query.results()).map(keyOf))
}

export function keyOf(record: AerospikeRecord): number {
  return record.key.key as number
}

export function sorted<T extends number | string>(values: T[]): T[] {
  return values.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}
