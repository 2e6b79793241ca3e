import type { SessionContext } from '../context/session-context.js'
import type { EntityLoader } from '../load/entity-loader.js'
import type { Reached } from './hop.js'
import type { WalkNode } from './walk-node.js'
import type { WalkOptions } from './walk-types.js'

/** Parts of a session that a walk needs. */
export interface WalkParts {
  readonly context: SessionContext
  readonly loads: EntityLoader
  readonly options: WalkOptions & { readonly max: number }
  /** Class of the start. */
  readonly reached: Reached
  /** Made anew for each run: a run notes in its nodes how it came there. */
  readonly start: () => readonly WalkNode[]
  readonly checkMayLoad: () => void
}
