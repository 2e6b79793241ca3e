import type { KeyValue } from '../../keys/index.js'
import { goneBinsOf, isThere, type EntityModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import { userKeyId, type UserKey } from '../../plan/record-key.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import type { IndexedBy } from '../contract/index-lookup.js'
import type { CollectionMembers } from '../contract/collection-members.js'

/** Answers questions about a collection from an index and the children's own bins, without loading it. */
export function indexMembers(
  child: EntityModel,
  childBin: string,
  lookup: (owner: Tracked) => IndexedBy,
): CollectionMembers {
  return {
    isByIndex: true,
    async count(owner, reader) {
      let count = 0
      for await (const keys of reader.keysBy(lookup(owner))) count += keys.length
      return count
    },
    async countOf(owner, keys, reader) {
      const commands = keys.map((key) =>
        read(child.name, reader.recordKey(child, key), [childBin, ...goneBinsOf(child)]),
      )
      const records = await reader.read(commands)
      return records.filter((record) => {
        const parent = record?.bins[childBin] as UserKey | undefined
        if (record === null || parent === undefined || !isThere(child, record.bins, reader.deleted)) return false
        return userKeyId(parent) === userKeyId(lookup(owner).value)
      }).length
    },
    async keys(owner, reader) {
      const all: KeyValue[] = []
      for await (const keys of reader.keysBy(lookup(owner))) all.push(...keys)
      return all
    },
    byPosition: {
      page: (owner: Tracked, reader: Reader, count: number, after?: string) =>
        reader.pageBy(lookup(owner), count, after),
      stream: (owner: Tracked, reader: Reader) => reader.foundBy(lookup(owner)),
    },
  }
}
