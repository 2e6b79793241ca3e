import { remove } from '../plan/command.js'
import type { RecordKey } from '../plan/record-key.js'
import { flushFailure } from './flush-failure.js'
import type { MappedClass } from './mapped-class.js'
import { callOptions, type SessionContext } from './session-context.js'

/** Deletes a record that the session has not loaded and nobody needs to see. */
export async function deleteBlindly(
  mapped: MappedClass,
  key: RecordKey,
  context: SessionContext,
  options: { readonly signal?: AbortSignal } = {},
): Promise<boolean> {
  const command = remove(mapped.model.name, key)
  const outcome = await context.driver.runOne(command, callOptions(context, options.signal))
  if (outcome.state === 'written') return true
  if (outcome.reason === 'missing') return false
  throw flushFailure({ outcomes: [outcome], failed: [outcome] }, options.signal)
}
