import { DELETING_BIN, type EntityModel } from '../../model/index.js'
import { type Existence, goneUnless, whileThere, write, type WriteCommand } from '../../plan/command.js'
import { binExists, not } from '../../plan/expression.js'
import { touch } from '../../plan/operations.js'
import type { Operation } from '../../plan/operation.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { LinkBin, LinkEnd } from './link-bin.js'

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

/** Puts a key into the list or map of a record. */
export function linked(bin: LinkBin, end: LinkEnd, other: UserKey, attributes?: Value): WriteCommand {
  return write(end.model.name, end.key, [bin.put(end, other, attributes)], {
    exists: 'mustExist',
    ttl: 'keep',
    guards: [whileThere(end.model)],
    watchSize: true,
  })
}

export function unlinked(bin: LinkBin, { model, key, bin: name }: LinkEnd, others: readonly UserKey[]): WriteCommand {
  return linkWrite(model, key, [bin.take(name, others)])
}

/** In a transaction a record that stores nothing of a link takes part all the same, so that it cannot be deleted meanwhile. */
export function held(model: EntityModel, key: RecordKey): WriteCommand {
  return write(model.name, key, [touch()], { exists: 'mustExist', ttl: 'keep', guards: [whileThere(model)] })
}
