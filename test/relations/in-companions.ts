import { Companion, Sharded } from 'skein'

/**
 * With SKEIN_SHARDED=1 the same relations are kept in companion records, with SKEIN_SHARDED=demand as soon as they have some members: what is
 * stored and shown is the same.
 */
export const isSharded = process.env.SKEIN_SHARDED === '1'
export const isOnDemand = process.env.SKEIN_SHARDED === 'demand'

const nothing = (): void => undefined

export const InShards = (subkeys: string): PropertyDecorator => {
  if (isOnDemand) return Sharded({ by: 'hash', shards: 2, when: { members: 1 }, subkeys }) as PropertyDecorator
  return isSharded ? (Sharded({ by: 'hash', shards: 2, subkeys }) as PropertyDecorator) : nothing
}

export const Apart = (subkeys: string): PropertyDecorator => {
  if (isOnDemand) return Sharded({ by: 'hash', shards: 3, when: { members: 2 }, subkeys }) as PropertyDecorator
  return isSharded ? (Companion({ subkeys }) as PropertyDecorator) : nothing
}

/** Of links that are kept when they are ended, which are not split on demand. */
export const EndedInShards = (subkeys: string): PropertyDecorator => (isOnDemand ? nothing : InShards(subkeys))
export const EndedApart = (subkeys: string): PropertyDecorator => (isOnDemand ? nothing : Apart(subkeys))

/** Of consolidated children, which are not split on demand. */
export const PartsInShards = (subkeys: string): PropertyDecorator => (isOnDemand ? nothing : InShards(subkeys))
