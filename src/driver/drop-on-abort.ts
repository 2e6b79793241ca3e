import { onAbort } from './on-abort.js'
import type { PendingWrite } from './pending-write.js'
import { notSent } from './refusals.js'

/** Commands that wait when the signal fires are never sent; those already sent are awaited, but not repeated. */
export function dropOnAbort(entries: readonly PendingWrite[], signal: AbortSignal): () => void {
  const drop = (): void => {
    for (const entry of entries) {
      entry.isDropped = true
      if (!entry.isOut) entry.settle(notSent(entry, signal.reason))
    }
  }
  if (!signal.aborted) return onAbort(signal, drop)
  drop()
  return () => {}
}
