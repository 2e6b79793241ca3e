import { readProperty } from '../codec/index.js'
import type { Ttl } from '../plan/command.js'
import type { Managed } from './managed.js'
import { badTtl } from './session-errors.js'

// What the server takes at most.
const TEN_YEARS = 315_360_000

/** The expiry a whole record gets: asked for by this save, by the entity, by its class, in this order. */
export function ttlOfNew(managed: Managed): Ttl {
  const { ttlProperty, ttl } = managed.model
  const own = ttlProperty === undefined ? undefined : ownTtl(managed, ttlProperty)
  return checkTtl(managed, managed.ttlWish ?? own ?? ttl.seconds)
}

/** Nothing in the property of a new entity asks for nothing. */
function ownTtl(managed: Managed, property: string): Ttl | undefined {
  return shownTtl(managed, property) ?? (managed.ttl === undefined ? undefined : 'never')
}

/** The expiry an update gives: it stays as it is unless this save, the entity or its class says otherwise. */
export function ttlOfUpdate(managed: Managed): Ttl {
  if (managed.ttlWish !== undefined) return checkTtl(managed, managed.ttlWish)
  const changed = changedTtl(managed)
  if (changed !== undefined) return checkTtl(managed, changed)
  const { seconds, onUpdate } = managed.model.ttl
  return onUpdate === 'refresh' ? seconds : 'keep'
}

/** True when a write is wanted for the expiry alone. */
export const wantsTtl = (managed: Managed): boolean =>
  managed.ttlWish !== undefined || changedTtl(managed) !== undefined

/** What the entity's own property asks for; undefined while it says what is stored. */
export function changedTtl(managed: Managed): Ttl | undefined {
  const { ttlProperty } = managed.model
  if (ttlProperty === undefined) return undefined
  const now = shownTtl(managed, ttlProperty)
  return now === (managed.ttl ?? undefined) ? undefined : (now ?? 'never')
}

/** As in a loaded entity, null and undefined say that the record never expires. */
export function shownTtl(managed: Managed, property: string): number | undefined {
  return (readProperty(managed.entity, property) as number | null | undefined) ?? undefined
}

export function checkTtl({ mapped }: Pick<Managed, 'mapped'>, ttl: Ttl): Ttl {
  if (ttl === 'keep' || ttl === 'default' || ttl === 'never') return ttl
  if (Number.isInteger(ttl) && ttl >= 1 && ttl <= TEN_YEARS) return ttl
  throw badTtl(mapped, ttl)
}
