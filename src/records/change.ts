import type { WriteOperation } from '../plan/operation.js'

/** A change that a handle has recorded: the operation that sends it, and its effect on the property of a loaded entity. */
export interface Change {
  readonly property: string
  readonly operation: Extract<WriteOperation, { readonly bin: string }>
  /** Only the server can apply it: a loaded value does not show it. */
  readonly isByServer?: true
  /** Returns the property's value with the change; may change lists, sets, maps and parts in place. */
  apply(value: unknown): unknown
}
