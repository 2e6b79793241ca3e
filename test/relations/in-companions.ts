import { Companion, Sharded } from 'skein'

/** With SKEIN_SHARDED=1 the same relations are kept in companion records: what is stored and shown is the same. */
export const isSharded = process.env.SKEIN_SHARDED === '1'

const nothing = (): void => undefined

export const InShards = (subkeys: string): PropertyDecorator =>
  isSharded ? (Sharded({ by: 'hash', shards: 2, subkeys }) as PropertyDecorator) : nothing

export const Apart = (subkeys: string): PropertyDecorator =>
  isSharded ? (Companion({ subkeys }) as PropertyDecorator) : nothing
