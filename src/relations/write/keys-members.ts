import type { EntityModel, RelationModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { ReadOperation } from '../../plan/operation.js'
import type { UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { CollectionMembers } from '../contract/collection-members.js'
import type { Reader } from '../contract/reader.js'
import { readKeysBin, storedKeys, type AskedBin, type KeysPlace } from '../contract/stored-keys.js'
import { storedRef } from '../contract/member.js'
import type { Tracked } from '../contract/tracked.js'

/** Questions that the server answers about a bin with keys. */
export interface KeysReads {
  size(bin: string): ReadOperation
  countOf(bin: string, keys: readonly UserKey[]): ReadOperation
  slice(bin: string, offset: number, count: number): ReadOperation
  /** True where the bin as it is stored is the list of its keys. */
  readonly isList: boolean
}

/** Reads of a list or map of keys that the server answers without sending more than is asked for. */
export function keysMembers(
  owner: EntityModel,
  target: EntityModel,
  relation: RelationModel,
  reads: KeysReads,
): CollectionMembers {
  const bin = relation.bin!
  const asked: AskedBin = { bin, holds: reads.isList ? 'list' : 'map' }
  const placeOf = ({ key }: Tracked): KeysPlace => ({ model: owner, key, property: relation.name })
  const ask = (of: Tracked, reader: Reader, operation: ReadOperation): Promise<Value | undefined> =>
    readKeysBin(placeOf(of), asked, target, read(owner.name, of.key, 'none', [operation]), reader)
  const readBin = async ({ key }: Tracked, reader: Reader): Promise<Value | undefined> => {
    const [record] = await reader.read([read(owner.name, key, [bin])])
    return record?.bins[bin]
  }
  return {
    count: async (of, reader) => Number((await ask(of, reader, reads.size(bin))) ?? 0),
    async countOf(of, keys, reader) {
      const stored = keys.map((each) => storedRef(target, reader.recordKey(target, each)))
      return Number((await ask(of, reader, reads.countOf(bin, stored))) ?? 0)
    },
    async keys(of, reader, range) {
      const { offset, count } = range ?? { offset: 0, count: 2 ** 31 - 1 }
      const isWhole = range === undefined && reads.isList
      const stored = await (isWhole ? readBin(of, reader) : ask(of, reader, reads.slice(bin, offset, count)))
      return storedKeys(placeOf(of), target, () => stored ?? [], reader)
    },
  }
}
