import type { KeyValue } from '../../keys/index.js'
import { deletedBinOf, type DeletedMode, type EntityModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { CollectionMembers } from '../contract/collection-members.js'
import type { Reader } from '../contract/reader.js'

/**
 * Leaves members out that were deleted softly, or all others: their keys stay listed, and only their own records tell. Members that an index
 * finds are filtered by its query.
 */
export function shownMembers(
  members: CollectionMembers,
  target: EntityModel,
  deleted: DeletedMode | undefined,
): CollectionMembers {
  const bin = deletedBinOf(target)
  if (bin === undefined || deleted === 'include' || members.isByIndex === true) return members
  const shown = async (keys: readonly KeyValue[], reader: Reader): Promise<readonly KeyValue[]> => {
    const records = await reader.read(keys.map((key) => read(target.name, reader.recordKey(target, key), [bin])))
    const isDeleted = (i: number): boolean => (records[i]?.bins[bin] ?? null) !== null
    return keys.filter((_, i) => isDeleted(i) === (deleted === 'only'))
  }
  return {
    keys: async (owner, reader, range) => shown(await members.keys(owner, reader, range), reader),
    count: async (owner, reader) => (await shown(await members.keys(owner, reader), reader)).length,
    async countOf(owner, keys, reader) {
      const left = await shown(keys, reader)
      return left.length === 0 ? 0 : members.countOf(owner, left, reader)
    },
  }
}
