import type { KeyValue } from '../../keys/index.js'
import { goneBinsOf, isThere, type EntityModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import { userKeyId, type UserKey } from '../../plan/record-key.js'
import type { Tracked } from '../contract/tracked.js'
import type { FoundPage, FoundStep, Reader } from '../contract/reader.js'
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
      if (await isAnotherClass(owner, reader)) return count
      for await (const keys of reader.keysBy(lookup(owner))) count += keys.length
      return count
    },
    async countOf(owner, keys, reader) {
      if (await isAnotherClass(owner, reader)) return 0
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
      if (await isAnotherClass(owner, reader)) return all
      for await (const keys of reader.keysBy(lookup(owner))) all.push(...keys)
      return all
    },
    byPosition: {
      async page(owner: Tracked, reader: Reader, count: number, after?: string) {
        if (await isAnotherClass(owner, reader)) return NO_PAGE
        return reader.pageBy(lookup(owner), count, after)
      },
      stream: (owner: Tracked, reader: Reader) => indexedMembers(lookup(owner), owner, reader),
    },
  }
}

const NO_PAGE: FoundPage = { found: [], next: undefined }

/** Children that an index finds; none for an owner that was not read and is stored as another class of its set, or not at all. */
export async function* indexedMembers(lookup: IndexedBy, owner: Tracked, reader: Reader): AsyncGenerator<FoundStep> {
  if (!(await isAnotherClass(owner, reader))) yield* reader.foundBy(lookup)
}

/** An index finds children by the key of their owner alone, and a record of another class may have it. */
async function isAnotherClass({ isUnread, model, key }: Tracked, reader: Reader): Promise<boolean> {
  if (!isUnread || model.discriminator === undefined) return false
  const [record] = await reader.read([read(model.name, key, 'none')])
  return record === null
}
