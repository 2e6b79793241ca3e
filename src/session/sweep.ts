import { DELETING_BIN } from '../model/index.js'
import { binExists } from '../plan/expression.js'
import { query } from '../plan/query-command.js'
import type { Driver } from '../driver/driver.js'
import type { MappedClass } from './mapped-class.js'
import type { DrainOptions } from './run-drains.js'
import type { Session } from './session.js'

/** Finishes deletes of a class that were cut off; says how many. */
export async function sweepClass(
  mapped: MappedClass,
  driver: Driver,
  newSession: () => Session,
  options: DrainOptions,
): Promise<number> {
  const { name: entity, namespace, set, class: entityClass, discriminator } = mapped.model
  const wanted = [...mapped.codec.binsOf([]), DELETING_BIN]
  const command = query({ entity, namespace, set, bins: wanted, filter: binExists(DELETING_BIN) })
  const { signal, step, onProgress } = options
  let count = 0
  for await (const records of driver.query(command, { signal })) {
    for (const { bins } of records) {
      if (discriminator?.subclasses.every(({ value }) => value !== bins[discriminator.bin])) continue
      const session = newSession()
      if (await session.delete(entityClass, mapped.keyOfBins(bins), { signal, step, onProgress })) count++
      await session.close()
    }
  }
  return count
}
