import type { Snapshot } from '../../codec/index.js'
import type { WriteOptions } from './write-options.js'

/** A write of an entity's record whose outcome is not known yet, as handles see it that change the entity meanwhile. */
export interface SentWrite {
  /** The entity as it was sent: its snapshot once the write is confirmed. */
  readonly sent: Snapshot
  /** False for a property that was read after the write was made, which says nothing about it. */
  knows(property: string): boolean
  /** Records what the write changes in the property, as done if it succeeds and to be sent again if it fails; `since` was changed after it was made. */
  recordSent(property: string, since: readonly WriteOptions[]): void
  /** Ends a write that was planned and never answered. */
  drop(): void
}
