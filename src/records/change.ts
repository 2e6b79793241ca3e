import type { WriteOperation } from '../plan/operation.js'

/** A change that a handle has recorded: the operation that sends it, and its effect on the property of a loaded entity. */
export interface Change {
  readonly property: string
  readonly operation: Extract<WriteOperation, { readonly bin: string }>
  /** Only the server can apply it: a loaded value does not show it. */
  readonly isByServer?: true
  /** The property shows it already, and only as it was read: more of it cannot be read before the change is sent. */
  readonly isShown?: true
  /** Throws where the loaded value shows that the server would refuse the change. */
  check?(value: unknown): void
  /** Returns the property's value with the change; may change lists, sets, maps and parts in place. */
  apply(value: unknown): unknown
}

/** Marks the change of a value that was not read: where it changes what must be there, its operation says so for the error. */
export function unread(change: Change): Change {
  const { operation } = change
  const isFixed = 'path' in operation && operation.path?.some((step) => step.in === 'mapKey' && step.create !== true)
  if (isFixed !== true && !('index' in operation && operation.index < 0)) return change
  return { ...change, operation: { ...operation, isUnread: true } }
}

const REMOVALS: ReadonlySet<WriteOperation['kind']> = new Set([
  'listRemoveValues',
  'listRemoveIndexRange',
  'listRemoveRankRange',
  'listRemoveInterval',
  'listClear',
  'mapRemoveKeys',
  'mapClear',
])

/** True for what only takes away: the server makes no list or map for it. */
export const isRemoval = ({ kind }: Change['operation']): boolean => REMOVALS.has(kind)
