import { IdentityMap } from './identity-map.js'
import { Loads } from './loads.js'
import type { SendParts } from './send-work.js'
import { SessionEntities } from './session-entities.js'

export interface ShortSession extends SendParts {
  readonly loads: Loads
}

/** Works in a session of its own, without transactions, so that nothing of it stays in memory. */
export async function inShortSession<T>(
  { context }: SendParts,
  work: (session: ShortSession) => Promise<T>,
): Promise<T> {
  const identity = new IdentityMap(context.classes, context.identity.tenant, context.identity)
  const inner = { ...context, identity, transaction: undefined, transactions: 'off' as const, validate: false }
  const loads = new Loads(inner)
  const entities = new SessionEntities(inner, loads)
  try {
    return await work({ context: inner, entities, reader: loads.reader, readerIn: loads.readerIn.bind(loads), loads })
  } finally {
    identity.clear()
  }
}
