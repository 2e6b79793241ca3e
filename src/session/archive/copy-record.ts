import { readProperty } from '../../codec/index.js'
import { DELETING_BIN } from '../../model/index.js'
import { write, type Bins, type WriteCommand } from '../../plan/command.js'
import type { WriteOperation } from '../../plan/operation.js'
import { removeBin, writeBin } from '../../plan/operations.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** Writes a record as it is stored elsewhere, with the time to live that it has left; `present` is what it takes the place of. */
export function copyOf(
  mapped: MappedClass,
  record: StoredRecord,
  to: RecordKey,
  present: StoredRecord | null,
): WriteCommand {
  const operations = operationsFor(mapped, record.bins)
  const written = new Set(operations.flatMap((operation) => ('bin' in operation ? [operation.bin] : [])))
  const others = Object.keys(present?.bins ?? {}).filter((name) => !written.has(name))
  return write(mapped.model.name, to, [...others.map(removeBin), ...operations], {
    exists: 'upsert',
    ttl: record.ttl ?? 'never',
    sendKey: mapped.model.sendKey,
  })
}

/** Values go through their codecs, because what is read has lost what kind of number or list it was; the rest is written as it was read. */
function operationsFor(mapped: MappedClass, bins: Bins): WriteOperation[] {
  const { codecs } = mapped
  const entity = mapped.codec.hydrate(bins)
  const codec = codecs.of(entity)
  const values = codec.create(entity).filter((operation) => !('bin' in operation) || present(bins, operation.bin))
  const written = new Set(values.flatMap((operation) => ('bin' in operation ? [operation.bin] : [])))
  const copies = codec.model.properties.flatMap(({ name, bin, copy }) =>
    copy === undefined || !present(bins, bin) ? [] : [writeBin(bin, codec.storedIn(name, bins))],
  )
  for (const { bin } of copies) written.add(bin)
  const rest = Object.keys(bins).filter((name) => !written.has(name) && name !== DELETING_BIN && present(bins, name))
  return [...values, ...copies, ...rest.map((name) => writeBin(name, bins[name] as Value))]
}

const present = (bins: Bins, name: string): boolean => (readProperty(bins, name) ?? null) !== null
