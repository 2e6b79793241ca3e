import { readProperty } from '../../../codec/index.js'
import type { Ttl } from '../../../plan/command.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { badTtl, cannotExpire } from '../../context/session-errors.js'

// The longest that the server takes.
const TEN_YEARS = 315_360_000

/** The expiry a whole record gets: asked for by this save, by the entity, by its class, in this order. */
export function ttlOfNew(managed: ManagedEntity): Ttl {
  const { ttlProperty, ttl } = managed.model
  const own = ttlProperty === undefined ? undefined : ownTtl(managed, ttlProperty)
  return checkTtl(managed, managed.requestedTtl ?? own ?? ttl.seconds)
}

/** Nothing in the property of a new entity asks for nothing. */
function ownTtl(managed: ManagedEntity, property: string): Ttl | undefined {
  return shownTtl(managed, property) ?? (managed.ttl === undefined ? undefined : 'never')
}

/** The expiry an update gives: it stays as it is unless this save, the entity or its class says otherwise. */
export function ttlOfUpdate(managed: ManagedEntity): Ttl {
  if (managed.requestedTtl !== undefined) return checkTtl(managed, managed.requestedTtl)
  const changed = changedTtl(managed)
  if (changed !== undefined) return checkTtl(managed, changed)
  const { seconds, onUpdate } = managed.model.ttl
  return onUpdate === 'refresh' ? seconds : 'keep'
}

/** True when a write is wanted for the expiry alone. */
export const wantsTtl = (managed: ManagedEntity): boolean =>
  managed.requestedTtl !== undefined || changedTtl(managed) !== undefined

/** Time to live that the entity's own property asks for; undefined while it shows what is stored. */
export function changedTtl(managed: ManagedEntity): Ttl | undefined {
  const { ttlProperty } = managed.model
  if (ttlProperty === undefined) return undefined
  const now = shownTtl(managed, ttlProperty)
  return now === (managed.ttl ?? undefined) ? undefined : (now ?? 'never')
}

/** Time to live in the entity's property; null and undefined say that the record never expires. */
export function shownTtl(managed: ManagedEntity, property: string): number | undefined {
  return (readProperty(managed.entity, property) as number | null | undefined) ?? undefined
}

export function checkTtl({ mapped }: Pick<ManagedEntity, 'mapped'>, ttl: Ttl): Ttl {
  if (ttl === 'keep' || ttl === 'default' || ttl === 'never') return ttl
  if (mapped.shards !== undefined) throw cannotExpire(mapped)
  if (Number.isInteger(ttl) && ttl >= 1 && ttl <= TEN_YEARS) return ttl
  throw badTtl(mapped, ttl)
}
