import { PARTITIONS } from '../protocol/constants.js'
import type { Namespace } from '../store/namespace.js'
import type { Slot } from '../store/slot.js'
import type { IndexLookup } from './index-lookup.js'
import type { PartitionSelection } from './partition-selection.js'

/** A record that a query may answer with. */
export interface Candidate {
  readonly slot: Slot
  /** Sent with the row of a secondary-index query. */
  readonly value: bigint | undefined
}

/**
 * The records of a query that the client does not have yet, in an order that is stable within each partition. The
 * store may change while they are read.
 */
export function candidates(
  namespace: Namespace,
  partitions: PartitionSelection,
  lookup: IndexLookup | undefined,
): Iterable<Candidate> {
  return lookup === undefined ? fromPrimaryIndex(namespace, partitions) : fromSecondaryIndex(lookup, partitions)
}

function* fromPrimaryIndex(namespace: Namespace, partitions: PartitionSelection): Iterable<Candidate> {
  for (let partition = 0; partition < PARTITIONS; partition++) {
    if (!partitions.includes(partition)) continue
    const slots: Slot[] = []
    for (const slot of namespace.slotsOf(partition)) if (partitions.isNew(slot)) slots.push(slot)
    slots.sort((a, b) => (a.digestKey < b.digestKey ? -1 : 1))
    for (const slot of slots) yield { slot, value: undefined }
  }
}

function* fromSecondaryIndex(lookup: IndexLookup, partitions: PartitionSelection): Iterable<Candidate> {
  const { index, begin, end } = lookup
  const repeats = index.multiple && begin !== end
  const entries = begin === end ? index.within(begin, partitions.first, partitions.last) : index.range(begin, end)
  for (const { key, slot } of entries) {
    // Strings and blobs are looked up one at a time, so only their digests are in order.
    if (!partitions.isNew(slot, typeof key === 'string' ? undefined : key)) continue
    // A record is given under its first key only: once in a query, and never again on a later page.
    if (repeats && slot.committed && index.firstKey(slot, begin, end) !== key) continue
    yield { slot, value: lookup.rowValue(key) }
  }
}
