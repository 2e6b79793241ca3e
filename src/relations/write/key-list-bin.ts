import { DELETING_BIN, type EntityModel, type RelationModel } from '../../model/index.js'
import { goneUnless, write, type Existence, type WriteCommand } from '../../plan/command.js'
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
import type { CollectionMembers } from '../contract/collection-members.js'
import { keysMembers, type KeysReads } from './keys-members.js'

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

const LIST: KeysReads = {
  size: listSize,
  countOf: (bin, keys) => listGetValues(bin, keys, 'count'),
  slice: listGetIndexRange,
  isList: true,
}

export const listMembers = (owner: EntityModel, target: EntityModel, relation: RelationModel): CollectionMembers =>
  keysMembers(owner, target, relation, LIST)
