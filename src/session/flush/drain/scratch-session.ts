import { recordId, type RecordKey } from '../../../plan/record-key.js'
import { IdentityMap } from '../../tracking/identity-map.js'
import { newParts, type SendParts, type SessionParts } from '../session-parts.js'

/** Deletes members in a session of its own, without transactions, so that nothing of it stays in memory. */
export async function inScratchSession<T>(
  { context, around }: SendParts,
  owner: RecordKey,
  work: (session: SessionParts) => Promise<T>,
): Promise<T> {
  const identity = new IdentityMap(context.classes, context.identity.tenant, context.identity)
  const { driver } = context
  const inner = { ...context, driver, identity, transaction: undefined, transactions: 'off' as const, validate: false }
  try {
    return await work({ ...newParts(inner), around: new Set([...(around ?? []), recordId(owner)]) })
  } finally {
    identity.clear()
  }
}
