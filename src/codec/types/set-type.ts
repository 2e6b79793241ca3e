import { types } from 'node:util'
import type { WriteOperation } from '../../plan/operation.js'
import { listAppendUnique, listCreate, listRemoveValues } from '../../plan/operations.js'
import type { Value } from '../../plan/value.js'
import { compareValues } from '../../plan/value-order.js'
import { rereadEntries } from '../reread-entries.js'
import { depthOf, type TypeCodec } from '../type-codec.js'
import { ValueProblem, shown, throwUnder } from '../value-problem.js'
import { decodeItem, encodeItem } from './item.js'
import { notAList } from './list-type.js'
import { tokenOf, type Token } from './token.js'

type Members = ReadonlyMap<Token, Value>

/** A Set, stored as an ordered list of unique values. Only members that came or went are sent. */
export function setType(item: TypeCodec): TypeCodec {
  const members = (value: unknown, depth: number): Map<Token, Value> => {
    if (!types.isSet(value)) throw new ValueProblem(`${shown(value)} is not a Set`, 'Give a Set.')
    const found = new Map<Token, Value>()
    for (const member of value) {
      try {
        const stored = encodeItem(item, member, depth)
        found.set(tokenOf(stored), stored)
      } catch (error) {
        throwUnder(`{${shown(member)}}`, error)
      }
    }
    return found
  }
  const difference = (a: ReadonlyMap<Token, Value>, b: ReadonlyMap<Token, Value>): Value[] =>
    [...a].filter(([token]) => !b.has(token)).map(([, stored]) => stored)

  return {
    name: `set of ${item.name}`,
    nothing: new Map(),
    empty: emptySet,
    // In value order, as the server keeps a set: inside another value it would stay as it was sent.
    encode: (value, depth) => [...members(value, depth).values()].sort(compareValues),
    decode(stored) {
      if (!Array.isArray(stored)) throw notAList(stored)
      return new Set(stored.map((value: Value) => decodeItem(item, value)))
    },
    snapshot: (value) => members(value, 0),
    same(value, snapshot) {
      const before = snapshot as ReadonlyMap<Token, Value>
      if (!types.isSet(value) || value.size < before.size) return false
      try {
        const now = members(value, 0)
        return now.size === before.size && difference(now, before).length === 0
      } catch {
        // A member that cannot be stored counts as changed; encoding rejects it.
        return false
      }
    },
    patch(value, snapshot, place): readonly WriteOperation[] {
      const { bin, path } = place
      const before = snapshot as ReadonlyMap<Token, Value>
      const now = members(value, depthOf(place))
      const added = difference(now, before)
      const removed = difference(before, now)
      return [
        ...(removed.length > 0 ? [listRemoveValues(bin, removed, 'none', path)] : []),
        ...(added.length > 0 ? [listAppendUnique(bin, added, path)] : []),
      ]
    },
    reread: (known, sent, stored) => rereadEntries(known as Members, sent as Members, stored as Members),
    // Order and index are set when the record is created, never later: creating the list again would sort what others wrote.
    create(value, bin) {
      const stored = [...members(value, 0).values()]
      return stored.length === 0 ? [emptySet(bin)] : [emptySet(bin), listAppendUnique(bin, stored)]
    },
  }
}

const emptySet = (bin: string): WriteOperation => listCreate(bin, 'ordered', true)
