import type { KeyValue } from '../../keys/index.js'
import { deletedBinOf, type DeletedMode, type EntityModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { CollectionMembers } from '../contract/collection-members.js'
import { modelAt } from '../contract/member.js'
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
  const isSoft = [target, ...(target.several ?? [])].some((each) => deletedBinOf(each) !== undefined)
  if (!isSoft || deleted === 'include' || members.isByIndex === true) return members
  const shown = async (keys: readonly KeyValue[], reader: Reader): Promise<readonly KeyValue[]> => {
    const records = keys.map((key) => reader.recordKey(target, key))
    // Some of several classes may have no soft delete: their records need no read.
    const bins = records.map((record) => deletedBinOf(modelAt(target, record)))
    const asked = records.flatMap((record, i) => {
      const bin = bins[i]
      return bin === undefined ? [] : [read(modelAt(target, record).name, record, [bin])]
    })
    const answers = await reader.read(asked)
    let at = 0
    const isDeleted = bins.map((bin) => bin !== undefined && (answers[at++]?.bins[bin] ?? null) !== null)
    return keys.filter((_, i) => isDeleted[i] === (deleted === 'only'))
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
