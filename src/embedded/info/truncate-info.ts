import { nowMillis } from '../store/clock.js'
import type { Store } from '../store/store.js'
import { infoParameters } from './info-text.js'

const NANOS_PER_MILLI = 1_000_000n
/** 2010, in nanoseconds: no record can be older. */
const OLDEST = 1262304000_000_000_000n

/** `truncate:namespace=…;set=…[;lut=…]` and `truncate-namespace:namespace=…[;lut=…]`; lut is in nanoseconds. */
export function truncateInfo(store: Store, name: string, argument: string): string | undefined {
  if (name !== 'truncate' && name !== 'truncate-namespace') return undefined
  const parameters = infoParameters(argument)
  const namespace = store.namespaces.get(parameters.get('namespace') ?? '')
  if (namespace === undefined) return 'ERROR:4:unknown namespace'
  const setName = parameters.get('set')
  if (name === 'truncate' && setName === undefined) return 'ERROR:4:missing set'
  const before = truncateBefore(parameters.get('lut'))
  if (before === undefined) return 'ERROR:4:bad lut'
  namespace.truncate(name === 'truncate' ? setName : undefined, before)
  return 'ok'
}

/** The millisecond before which records go; undefined for a time in the future or before there was Aerospike. */
function truncateBefore(lut: string | undefined): number | undefined {
  const now = nowMillis()
  if (lut === undefined || lut === '0') return now
  if (!/^\d{1,20}$/.test(lut)) return undefined
  const nanos = BigInt(lut)
  if (nanos < OLDEST || nanos > BigInt(now) * NANOS_PER_MILLI) return undefined
  return Number(nanos / NANOS_PER_MILLI)
}
