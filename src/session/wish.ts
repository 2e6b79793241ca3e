import type { Ttl } from '../plan/command.js'
import type { Managed } from './managed.js'

/** What one call has asked of the next write of an entity, besides storing what has changed in it. */
export interface Wish {
  /** The time to live that the record is to get. */
  readonly ttl?: Ttl
  /** All of the entity is to be stored, whatever is there. */
  readonly overwrite?: boolean
}

/** Notes the wish; what is returned takes it back. */
export function addWish(managed: Managed, wish: Wish): () => void {
  managed.wishes = managed.wishes === undefined ? [wish] : [...managed.wishes, wish]
  return () => dropWishes(managed, [wish])
}

/** These were granted or forgotten; others may have been added since. */
export function dropWishes(managed: Managed, done: readonly Wish[] | undefined): void {
  if (done === undefined || managed.wishes === undefined) return
  const left = managed.wishes.filter((wish) => !done.includes(wish))
  managed.wishes = left.length === 0 ? undefined : left
}
