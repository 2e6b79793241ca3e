import type { Driver } from '../driver/driver.js'
import type { Tenant } from '../keys/index.js'
import { read } from '../plan/command.js'
import { isGone } from './hydrator.js'
import type { MappedClass } from './mapped-class.js'
import { projectionOf } from './projection.js'
import type { KeyInput, ValueProperty } from './session-types.js'

export interface ReadOptions<T> {
  /** Read only these properties (and the key and version). */
  readonly only?: readonly ValueProperty<T>[]
  readonly tenant?: Tenant
  readonly signal?: AbortSignal
}

/** Plain instances that no session manages: no identity, no snapshot, nothing to flush. */
export async function leanRead<T extends object>(
  mapped: MappedClass,
  keys: readonly KeyInput[],
  driver: Driver,
  options: ReadOptions<T> = {},
): Promise<(T | null)[]> {
  const { tenant, signal } = options
  const { loaded, bins } = projectionOf(mapped, options.only)
  const commands = keys.map((key) => read(mapped.model.name, mapped.recordKeyOf(key, tenant), bins))
  const records = await driver.read(commands, { signal })
  return records.map((record) => (isGone(record) ? null : (mapped.codec.hydrate(record.bins, loaded, record) as T)))
}
