import { DELETING_BIN, type EntityModel } from '../../model/index.js'
import type { KeyValue } from '../../keys/index.js'
import { goneUnless, read, write, type Existence, type WriteCommand } from '../../plan/command.js'
import { binExists, not } from '../../plan/expression.js'
import {
  listAppendUnique,
  listGetIndexRange,
  listGetValues,
  listRemoveValues,
  listSize,
  touch,
} from '../../plan/operations.js'
import type { Operation } from '../../plan/operation.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import type { CollectionMembers } from '../contract/collection-members.js'
import { storedKeys } from '../contract/stored-keys.js'

/** A record whose cascading delete has begun takes no new references. */
export const NOT_DELETING = goneUnless(not(binExists(DELETING_BIN)))

/** A write that only links records: the record must be there, and its expiry stays. */
export function linkWrite(
  model: EntityModel,
  key: RecordKey,
  operations: readonly Operation[],
  exists: Existence = 'mustExist',
): WriteCommand {
  return write(model.name, key, operations, { exists, ttl: 'keep' })
}

/** Puts a key on the ordered list of a record. */
export function listed(
  model: EntityModel,
  key: RecordKey,
  bin: string,
  member: UserKey,
  exists?: Existence,
): WriteCommand {
  const operations = [listAppendUnique(bin, [member])]
  if (exists === 'mustNotExist') return linkWrite(model, key, operations, exists)
  return write(model.name, key, operations, {
    exists: 'mustExist',
    ttl: 'keep',
    guards: [NOT_DELETING],
    watchSize: true,
  })
}

export function unlisted(model: EntityModel, key: RecordKey, bin: string, member: UserKey): WriteCommand {
  return linkWrite(model, key, [listRemoveValues(bin, [member])])
}

/** In a transaction a record that stores nothing of a link takes part all the same, so that it cannot be deleted meanwhile. */
export function held(model: EntityModel, key: RecordKey): WriteCommand {
  return write(model.name, key, [touch()], { exists: 'mustExist', ttl: 'keep', guards: [NOT_DELETING] })
}

/** What the server tells of an ordered list of keys without sending it. */
export function listMembers(owner: EntityModel, target: EntityModel, bin: string): CollectionMembers {
  const keyOf = (key: KeyValue, reader: Reader): UserKey => reader.recordKey(target, key).key
  return {
    async count({ key }: Tracked, reader: Reader) {
      const [record] = await reader.read([read(owner.name, key, 'none', [listSize(bin)])])
      return Number(record?.bins[bin] ?? 0)
    },
    async countOf({ key }, keys, reader) {
      const stored = keys.map((each) => keyOf(each, reader))
      const [record] = await reader.read([read(owner.name, key, 'none', [listGetValues(bin, stored, 'count')])])
      return Number(record?.bins[bin] ?? 0)
    },
    async keys({ key }, reader, range) {
      const command =
        range === undefined
          ? read(owner.name, key, [bin])
          : read(owner.name, key, 'none', [listGetIndexRange(bin, range.offset, range.count)])
      const [record] = await reader.read([command])
      return storedKeys({ model: owner, key, property: bin }, target, () => record?.bins[bin] ?? [], reader)
    },
  }
}
