import type { EntityModel } from '../../model/index.js'
import { binEquals, write, type WriteCommand } from '../../plan/command.js'
import { removeBin, writeBin } from '../../plan/operations.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'

/** Lets the bin of a reference name another record, or none, only while it still names this one: another session may have been faster. */
export function retarget(
  model: EntityModel,
  key: RecordKey,
  bin: string,
  from: UserKey,
  to: UserKey | null,
): WriteCommand {
  const change = to === null ? removeBin(bin) : writeBin(bin, to)
  return write(model.name, key, [change], { exists: 'mustExist', ttl: 'keep', guards: [binEquals(bin, from)] })
}
