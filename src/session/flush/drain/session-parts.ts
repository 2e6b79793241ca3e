import { EntityLoader } from '../../load/entity-loader.js'
import type { SendParts } from '../execute/execute-change-set.js'
import type { SessionContext } from '../../context/session-context.js'
import { EntityTracker } from '../../tracking/entity-tracker.js'

export interface SessionParts extends SendParts {
  readonly loads: EntityLoader
}

/** What a session is made of, for work that no user has the session of. */
export function newParts(context: SessionContext): SessionParts {
  const loads = new EntityLoader(context)
  const entities = new EntityTracker(context, loads)
  return { context, entities, reader: loads.reader, readerIn: (inside) => loads.readerIn(inside), loads }
}
