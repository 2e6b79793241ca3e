import { DELETING_BIN } from '../../model/index.js'
import { write, type WriteCommand } from '../../plan/command.js'
import { readBin, removeBin, writeBin } from '../../plan/operations.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Tracked } from '../contract/tracked.js'

/** Says of a record that its delete has begun: it loads as gone and takes no new members. Refused where the delete itself would be. */
export function markDeleting({
  model,
  key,
  deleteGuards,
}: Pick<Tracked, 'model' | 'key' | 'deleteGuards'>): WriteCommand {
  const options = { exists: 'mustExist', ttl: 'keep', guards: deleteGuards } as const
  return write(model.name, key, [writeBin(DELETING_BIN, true)], options)
}

/** Reads also the members that the record has: once it is marked, no more can come. */
export function readingKeys(mark: WriteCommand, bin: string): WriteCommand {
  return { ...mark, operations: [...mark.operations, readBin(bin)] }
}

/** Removes the mark of a record that is not deleted after all. */
export function takeMarkOff(entity: string, key: RecordKey): WriteCommand {
  return write(entity, key, [removeBin(DELETING_BIN)], { exists: 'mustExist', ttl: 'keep' })
}
