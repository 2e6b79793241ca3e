import { goneBinsOf, isGoneBy, type EntityModel, type RelationModel } from '../../model/index.js'
import type { Draft } from '../../plan/draft.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import { binEquals, read, write, type WriteCommand } from '../../plan/command.js'
import { removeBin, writeBin } from '../../plan/operations.js'
import { modelAt, storedRef } from '../contract/member.js'
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

/** Reads the record that a bin was made to name again, and clears the bin where that record is gone or being deleted. */
export function leaveUnlessThere(
  model: EntityModel,
  key: RecordKey,
  ref: RelationModel,
  targets: EntityModel,
  to: RecordKey,
  draft: Draft,
  onLost?: () => void,
): void {
  const target = modelAt(targets, to)
  draft.check(read(target.name, to, goneBinsOf(target)), (record) => {
    if (record !== null && !isGoneBy(target, record.bins)) return
    draft.add('undo', retarget(model, key, ref.bin!, storedRef(ref, to), null), (outcome) => {
      if (outcome.state === 'written') onLost?.()
      return outcome.reason === 'guard' || isWrittenOrMissing(outcome)
    })
  })
}
