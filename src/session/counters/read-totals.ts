import type { Loaded } from '../../codec/index.js'
import type { Driver } from '../../driver/driver.js'
import type { CallOptions } from '../../driver/outcome.js'
import type { ReadCommand } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { MappedClass } from '../mapping/mapped-class.js'

type Options = Pick<CallOptions, 'transaction' | 'signal'>

/** Reads records, with the whole values of their sharded counters: all in one batch. */
export async function readTotals(
  driver: Driver,
  mapped: MappedClass,
  reads: readonly ReadCommand[],
  loaded: Loaded,
  options: Options,
): Promise<(StoredRecord | null)[]> {
  const along = readsAlong(
    mapped,
    reads.map(({ key }) => key),
    loaded,
  )
  const found = await driver.read([...reads, ...along.flat()], options)
  return totals(mapped, found.slice(0, reads.length), along, found.slice(reads.length), loaded)
}

/** Adds to records that a query has found what the companions of their sharded counters hold: one batch more. */
export async function addTotals<R extends StoredRecord>(
  driver: Driver,
  mapped: MappedClass,
  records: readonly R[],
  keys: readonly RecordKey[],
  loaded: Loaded,
  options: Options = {},
): Promise<readonly R[]> {
  const along = readsAlong(mapped, keys, loaded)
  const commands = along.flat()
  if (commands.length === 0) return records
  return totals(mapped, records, along, await driver.read(commands, options), loaded) as R[]
}

const readsAlong = ({ shards, model }: MappedClass, keys: readonly RecordKey[], loaded: Loaded): ReadCommand[][] =>
  shards === undefined ? keys.map(() => []) : keys.map((key) => shards.reads(model.name, key, loaded))

function totals(
  { shards }: MappedClass,
  records: readonly (StoredRecord | null)[],
  along: readonly (readonly ReadCommand[])[],
  companions: readonly (StoredRecord | null)[],
  loaded: Loaded,
): (StoredRecord | null)[] {
  let at = 0
  return records.map((record, i) => {
    const own = companions.slice(at, (at += along[i].length))
    return record === null || own.length === 0 ? record : shards!.withTotals(record, loaded, own)
  })
}
