import type { KeyValue } from '../../../keys/index.js'
import { mapGetKeys } from '../../../plan/operations.js'
import type { Value } from '../../../plan/value.js'
import { mapBin, type LinkBin } from '../../write/link-bin.js'
import type { PartClass } from '../consolidate/part-class.js'

/** A bin of children, as those see it that move members between records: a child says itself which id and place it has. */
export function partBin(parts: PartClass): LinkBin {
  const idOf = (stored: Value): KeyValue => parts.idOf(parts.decoded(stored))
  const ids = parts.relation.sortKeyBin ?? parts.bin
  return {
    ...mapBin,
    keysIn: (stored) => childrenIn(stored).map(idOf),
    entriesIn: (stored) => childrenIn(stored).map((child) => [idOf(child), child]),
    binOf: (entries) => Object.fromEntries(entries.map(([id, child]) => [String(id), child!])),
    unreplaced: { bin: ids, among: (keys) => mapGetKeys(ids, keys, 'key') },
  }
}

/** Children of a map as the client shows it, whose keys it has made text. */
export function childrenIn(stored: Value | undefined): readonly Value[] {
  if (stored === undefined || stored === null || Array.isArray(stored)) return []
  return stored instanceof Map
    ? [...(stored.values() as Iterable<Value>)]
    : Object.values(stored as { readonly [place: string]: Value })
}
