import { Loads } from './loads.js'
import type { SendParts } from './send-work.js'
import type { SessionContext } from './session-context.js'
import { SessionEntities } from './session-entities.js'

export interface SessionParts extends SendParts {
  readonly loads: Loads
}

/** What a session is made of, for work that no user has the session of. */
export function newParts(context: SessionContext): SessionParts {
  const loads = new Loads(context)
  const entities = new SessionEntities(context, loads)
  return { context, entities, reader: loads.reader, readerIn: (inside) => loads.readerIn(inside), loads }
}
