import { readProperty } from '../../codec/index.js'
import { DELETING_BIN } from '../../model/index.js'
import { toLayout, type BinLayout } from '../../plan/bin-layout.js'
import { write, type Bins, type WriteCommand } from '../../plan/command.js'
import type { WriteOperation } from '../../plan/operation.js'
import { listAppend, removeBin, writeBin } from '../../plan/operations.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import { UnmanagedReader } from '../load/unmanaged-reader.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { linksIn } from './moved-companions.js'

/** Writes a record as it is stored elsewhere, with the time to live that it has left; `present` is what it takes the place of. */
export function copyOf(
  mapped: MappedClass,
  record: StoredRecord,
  to: RecordKey,
  present: StoredRecord | null,
  classes: MappedClasses,
): WriteCommand {
  const operations = operationsFor(mapped, record.bins, to, classes)
  const written = new Set(operations.flatMap((operation) => ('bin' in operation ? [operation.bin] : [])))
  const others = Object.keys(present?.bins ?? {}).filter((name) => !written.has(name))
  return write(mapped.model.name, to, [...others.map(removeBin), ...operations], {
    exists: 'upsert',
    ttl: record.ttl ?? 'never',
    sendKey: mapped.model.sendKey,
  })
}

/**
 * Values go through their codecs, because what is read has lost what kind of number or list it was, and lists and maps of relations get
 * their order; the rest is written as it was read.
 */
function operationsFor(mapped: MappedClass, bins: Bins, key: RecordKey, classes: MappedClasses): WriteOperation[] {
  const entity = mapped.codec.hydrate(bins)
  const { codec, model, relations } = classes.ofEntity(entity)
  const values = codec.create(entity).filter((operation) => !('bin' in operation) || present(bins, operation.bin))
  const copies = model.properties.flatMap(({ name, bin, copy }) =>
    copy === undefined || !present(bins, bin) ? [] : [writeBin(bin, codec.storedIn(name, bins))],
  )
  const owner = { entity, model, key, state: 'gone', isUnread: false, deleteGuards: [] } as const
  const reader = new UnmanagedReader(classes, undefined)
  const related = relations.flatMap((strategy) => {
    const { store } = strategy
    // Members that the record may hold now, and companions later.
    if (store?.growing !== undefined) return linksIn(strategy, store).copied(bins, owner, reader)
    return strategy.copied?.(bins, owner, reader) ?? (strategy.layouts ?? []).flatMap((each) => listOf(each, bins))
  })
  const known = [...values, ...copies, ...related]
  const written = new Set(known.flatMap((operation) => ('bin' in operation ? [operation.bin] : [])))
  const rest = Object.keys(bins).filter((name) => !written.has(name) && name !== DELETING_BIN && present(bins, name))
  return [...known, ...rest.map((name) => writeBin(name, bins[name] as Value))]
}

function listOf(layout: BinLayout, bins: Bins): WriteOperation[] {
  const { bin, kind, order } = layout
  if (kind !== 'list' || !present(bins, bin)) return []
  const items = bins[bin] as readonly Value[]
  const empty = [removeBin(bin), toLayout(layout)]
  return items.length === 0 ? empty : [...empty, listAppend(bin, items, order as 'ordered')]
}

const present = (bins: Bins, name: string): boolean => (readProperty(bins, name) ?? null) !== null
