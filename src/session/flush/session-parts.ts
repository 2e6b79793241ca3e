import { EntityLoader } from '../load/entity-loader.js'
import type { Reader } from '../../relations/contract/reader.js'
import type { SessionContext } from '../context/session-context.js'
import { EntityTracker } from '../tracking/entity-tracker.js'

/** Parts of a session that sending needs. */
export interface SendParts {
  readonly context: SessionContext
  readonly entities: EntityTracker
  readonly reader: Reader
  /** A reader whose reads are part of a transaction. */
  readonly readerIn: (context: SessionContext) => Reader
  /** Records that a flush around this one deletes in steps: members leave their lists alone, which are trimmed when they are gone. */
  readonly around?: ReadonlySet<string>
}

export interface SessionParts extends SendParts {
  readonly loads: EntityLoader
}

/** Makes the parts of a session that no user has. */
export function newParts(context: SessionContext): SessionParts {
  const loads = new EntityLoader(context)
  const entities = new EntityTracker(context, loads)
  const readerIn = (inside: SessionContext): Reader => loads.flushReader(inside)
  return { context, entities, reader: readerIn(context), readerIn, loads }
}
