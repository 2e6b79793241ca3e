import type { KeyValue } from '../../keys/index.js'
import { deletedBinOf, type DeletedMode, type EntityModel } from '../../model/index.js'
import { read, type ReadCommand } from '../../plan/command.js'
import type { CollectionMembers } from '../contract/collection-members.js'
import { farKey, outlivesEnd, type LinkClass } from '../contract/link-class.js'
import { modelAt } from '../contract/member.js'
import type { Reader } from '../contract/reader.js'

/**
 * Leaves members out that were deleted softly, or all others: their keys stay listed, and only their own records tell. Members that an index
 * finds are filtered by its query. A link record whose far end does not take it along counts as deleted while that end is.
 */
export function shownMembers(
  members: CollectionMembers,
  target: EntityModel,
  deleted: DeletedMode | undefined,
  links?: LinkClass,
): CollectionMembers {
  const classes = [target, ...(target.several ?? [])]
  const far = links !== undefined && outlivesEnd(links) ? links : undefined
  const isFiltered = members.isByIndex === true || !classes.some((each) => deletedBinOf(each) !== undefined)
  if (deleted === 'include' || (isFiltered && far === undefined)) return members
  const shown = async (keys: readonly KeyValue[], reader: Reader): Promise<readonly KeyValue[]> => {
    const questions = keys.map((key) => [
      ...deletedBinAt(target, key, reader),
      ...(far === undefined ? [] : deletedBinAt(far.target, farKey(far, key, reader), reader)),
    ])
    const answers = await reader.read(questions.flat().map(({ command }) => command))
    let at = 0
    const isDeleted = questions.map((asked) => {
      const given = answers.slice(at, (at += asked.length))
      return asked.some(({ bin }, i) => (given[i]?.bins[bin] ?? null) !== null)
    })
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

interface Question {
  readonly command: ReadCommand
  readonly bin: string
}

/** The question whether a record was deleted softly. Some of several classes may have no soft delete: their records need no read. */
function deletedBinAt(target: EntityModel, key: KeyValue, reader: Reader): Question[] {
  const record = reader.recordKey(target, key)
  const model = modelAt(target, record)
  const bin = deletedBinOf(model)
  return bin === undefined ? [] : [{ command: read(model.name, record, [bin]), bin }]
}
