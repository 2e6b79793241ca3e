import { remove } from '../plan/command.js'
import type { Outcome } from '../plan/outcome.js'
import type { RecordKey } from '../plan/record-key.js'
import { flushFailure } from './flush-failure.js'
import type { MappedClass } from './mapped-class.js'
import { callOptions, type SessionContext } from './session-context.js'

/** Told whether there was a record to delete. */
export interface DeleteReceiver {
  readonly deleted: (wasStored: boolean) => void
  readonly failed: (error: unknown) => void
}

/** Deletes a record that the session has not loaded and nobody needs to see. */
export function deleteBlindly(
  mapped: MappedClass,
  key: RecordKey,
  context: SessionContext,
  signal: AbortSignal | undefined,
  { deleted, failed }: DeleteReceiver,
): void {
  const command = remove(mapped.model.name, key)
  const settled = (outcome: Outcome): void => {
    if (outcome.state === 'written') deleted(true)
    else if (outcome.reason === 'missing') deleted(false)
    else failed(flushFailure({ outcomes: [outcome], failed: [outcome] }, signal))
  }
  if (context.transaction === undefined && signal === undefined) context.driver.runInto(command, { settled })
  else context.driver.runOne(command, callOptions(context, signal)).then(settled, failed)
}
