/** Entities that are, or were, part of a change of a collection: a session that only passes them by must keep them. */
const HELD = new WeakSet<object>()

export const holdForChange = (entity: object): void => void HELD.add(entity)

export const isHeldForChange = (entity: object): boolean => HELD.has(entity)
