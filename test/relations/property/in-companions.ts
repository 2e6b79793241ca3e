import { Companion, Sharded } from 'skein'
import { setClock } from '../../set-clock.js'

/**
 * With SKEIN_SHARDED=1 the same relations are kept in companion records, with SKEIN_SHARDED=demand as soon as they have some members, with
 * SKEIN_SHARDED=dates and =hours by the time at which they are made: what is stored and shown is the same.
 */
export const isSharded = process.env.SKEIN_SHARDED === '1'
export const isOnDemand = process.env.SKEIN_SHARDED === 'demand'
/** True for both clocks: one that goes forth and back by some days, and one that goes forth by some hours all the time. */
export const isByDate = ['dates', 'hours'].includes(process.env.SKEIN_SHARDED ?? '')

/** Days that links are made on, by turns: else all would be of one. */
const DAYS = 5

const HOURS = 2

if (isByDate) {
  const { now } = Date
  let calls = 0
  const isForth = process.env.SKEIN_SHARDED === 'hours'
  setClock(() => now() + (isForth ? calls++ * HOURS * 3_600_000 : (calls++ % DAYS) * 86_400_000))
}

const nothing = (): void => undefined

export const InShards = (subkeys: string): PropertyDecorator => {
  if (isByDate) return Sharded({ by: 'day', subkeys }) as PropertyDecorator
  return PartsInShards(subkeys)
}

/** Of children, which have no date. */
export const PartsInShards = (subkeys: string): PropertyDecorator => {
  if (isOnDemand) return Sharded({ by: 'hash', shards: 2, when: { members: 1 }, subkeys }) as PropertyDecorator
  return isSharded || isByDate ? (Sharded({ by: 'hash', shards: 2, subkeys }) as PropertyDecorator) : nothing
}

export const Apart = (subkeys: string): PropertyDecorator => {
  if (isByDate) return Sharded({ by: 'hour', every: 12, subkeys }) as PropertyDecorator
  if (isOnDemand) return Sharded({ by: 'hash', shards: 3, when: { members: 2 }, subkeys }) as PropertyDecorator
  return isSharded ? (Companion({ subkeys }) as PropertyDecorator) : nothing
}

/** Of counts: those of members that are split on demand are in shards, or those of members that are in shards from the beginning, or both. */
export const CountInShards = (...of: ('demand' | 'always')[]): PropertyDecorator => {
  const isSpread = (isOnDemand && of.includes('demand')) || ((isSharded || isByDate) && of.includes('always'))
  return isSpread ? (Sharded({ by: 'hash', shards: 2 }) as PropertyDecorator) : nothing
}
