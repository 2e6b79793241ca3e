const unsure = new WeakSet<object>()

/** Marks the snapshot of a nested list, map or part of which nobody knows whether it is stored: the write that would have made it is in doubt. */
export function markUnsure(snapshot: unknown): unknown {
  if (typeof snapshot === 'object' && snapshot !== null) unsure.add(snapshot)
  return snapshot
}

/** True where the next change has to make what it finds missing. */
export const isUnsure = (snapshot: unknown): boolean =>
  typeof snapshot === 'object' && snapshot !== null && unsure.has(snapshot)
