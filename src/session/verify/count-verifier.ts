import type { Driver } from '../../driver/driver.js'
import { describeKey, type KeyValue, type Tenant } from '../../keys/index.js'
import { DELETING_BIN, type EntityModel } from '../../model/index.js'
import { NOT_DELETING, write } from '../../plan/command.js'
import { and, bin, binExists, cond, ne, not, value, type Expression } from '../../plan/expression.js'
import { writeSize } from '../../plan/operations.js'
import type { FoundRecord } from '../../plan/outcome.js'
import { query } from '../../plan/query-command.js'
import { sizeOf } from '../../plan/size-of.js'
import type { Finding } from '../../relations/contract/finding.js'
import { countsOf, type StoredCount } from '../../relations/write/stored-counts.js'
import { foundKey, type FoundKey } from '../load/key-of-found.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** Finds records whose count of a collection is not the size of that: the server compares, and only those are sent. */
export async function* verifyCounts(
  mapped: MappedClass,
  driver: Driver,
  repair: boolean,
  tenant: Tenant | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Finding> {
  const { name: entity, namespace, set } = mapped.model
  for (const count of countsOf(mapped.model).filter(({ apart }) => apart === undefined)) {
    const command = query({ entity, namespace, set, bins: mapped.codec.binsOf([]), filter: isWrong(count) })
    for await (const records of driver.query(command, { signal })) {
      for (const found of records.flatMap((record) => keyOf(mapped, record, tenant) ?? []))
        yield await wrongCount(mapped.model, count, found, driver, repair)
    }
  }
}

function isWrong({ bin: name, of, type }: StoredCount): Expression {
  const stored = cond(binExists(name), bin('int', name), value(0))
  return and(not(binExists(DELETING_BIN)), ne(stored, sizeOf(type, of)))
}

export function keyOf(mapped: MappedClass, record: FoundRecord, tenant: Tenant | undefined): FoundKey | undefined {
  try {
    return foundKey(mapped, record, tenant)
  } catch {
    // A record that does not say its key is reported as unreadable.
    return undefined
  }
}

/** A finding of a count that is not the number of members. */
export function aboutCount(className: string, property: string, key: KeyValue): Omit<Finding, 'state'> {
  return {
    kind: 'wrongCount',
    className,
    property,
    key,
    truth: className,
    repair: 'count',
    message: `${className} ${describeKey(key)} has another number in ${property} than the members that it stores.`,
  }
}

async function wrongCount(
  { name: className }: EntityModel,
  { property, bin: name, of, type }: StoredCount,
  { key, record }: FoundKey,
  driver: Driver,
  repair: boolean,
): Promise<Finding> {
  const about = aboutCount(className, property, key)
  if (!repair) return { ...about, state: 'found' }
  const guards = [NOT_DELETING]
  const command = write(className, record, [writeSize(name, of, type)], { exists: 'mustExist', guards, ttl: 'keep' })
  const [{ state, reason, error }] = await driver.run([command])
  if (state === 'written') return { ...about, state: 'repaired' }
  if (reason === 'missing' || reason === 'guard') return { ...about, state: 'leftAlone' }
  return { ...about, state: 'failed', ...(error === undefined ? {} : { error }) }
}
