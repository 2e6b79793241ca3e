import type { WriteOperation } from '../plan/operation.js'
import type { Change } from '../records/change.js'
import type { LocatedPart, PartFields } from '../relations/contract/relation-strategy.js'

type Undo = () => void

/**
 * Turns what was changed in fields of a loaded child into recorded changes, before a handle changes them: compared after that, an increment
 * would become a put. Returns who is told of the handle's own change; undefined where the child is new, or a part inside it, and is sent as
 * it is then.
 */
export function recordUnsent(
  child: LocatedPart,
  fields: PartFields,
  record: (operation: Change['operation']) => Undo,
): ((undo: Undo) => void) | undefined {
  const { sent, isAdded } = child
  const recordAll = (operations: readonly WriteOperation[], noted: (operation: WriteOperation, undo: Undo) => void) => {
    for (const operation of operations) noted(operation, record(operation as Change['operation']))
  }
  if (sent === undefined) {
    const unsent = isAdded ? undefined : child.unsent(fields)
    recordAll(unsent ?? [], () => undefined)
    return unsent && (() => undefined)
  }
  const since = child.unsent(fields, sent)
  if (since === undefined) return undefined
  const before = sent.isPut ? undefined : child.unsent(fields)
  recordAll(before ?? [], (operation, undo) => sent.carries(operation, undo))
  recordAll(since, (_, undo) => sent.follow(undo))
  // If it fails, all of it is sent again, with what the handle changes.
  return (undo) => before === undefined && sent.follow(undo)
}
