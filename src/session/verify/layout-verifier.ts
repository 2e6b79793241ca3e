import type { Driver } from '../../driver/driver.js'
import { describeKey, type Tenant } from '../../keys/index.js'
import type { Finding } from '../../relations/contract/finding.js'
import { layoutsOf } from '../layout/class-layouts.js'
import {
  conversion,
  layoutQuery,
  layoutRead,
  storedLayouts,
  type StoredLayout,
  type StoredLayouts,
} from '../layout/stored-layouts.js'
import type { RecordKey } from '../../plan/record-key.js'
import { digestOf } from '../context/digest.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'

/** Finds lists and maps that are stored in another order than their class declares. Only their own bytes tell it, so they are read again. */
export async function* verifyLayouts(
  mapped: MappedClass,
  classes: MappedClasses,
  driver: Driver,
  repair: boolean,
  tenant: Tenant | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Finding> {
  if (mapped.kinds.every((kind) => layoutsOf(kind).length === 0)) return
  for await (const records of driver.query(layoutQuery(mapped), { signal })) {
    for (const record of records) {
      const found = storedLayouts(record, mapped, classes, tenant)
      yield* differences(found, driver, repair, signal)
    }
  }
}

/** Finds them in one record. */
export async function* verifyLayout(
  mapped: MappedClass,
  key: RecordKey,
  classes: MappedClasses,
  driver: Driver,
  repair: boolean,
  tenant: Tenant | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Finding> {
  if (layoutsOf(mapped).length === 0) return
  const record = await driver.readOne(layoutRead(mapped, key), { signal })
  if (record === null) return
  const found = storedLayouts({ bins: record.bins, digest: digestOf(key) }, mapped, classes, tenant)
  yield* differences(found, driver, repair, signal)
}

async function* differences(
  found: ReturnType<typeof storedLayouts>,
  driver: Driver,
  repair: boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<Finding> {
  // A record that cannot be read is reported with its links.
  if (typeof found !== 'object' || found.different.length === 0) return
  const outcome = repair ? await convert(found, driver, signal) : { state: 'found' as const }
  for (const each of found.different) yield { ...about(found, each), ...outcome }
}

async function convert(
  found: StoredLayouts,
  driver: Driver,
  signal: AbortSignal | undefined,
): Promise<Pick<Finding, 'state' | 'error'>> {
  const [{ state, reason, error }] = await driver.run([conversion(found)!], { signal })
  if (state === 'written') return { state: 'repaired' }
  if (reason === 'missing' || reason === 'guard') return { state: 'leftAlone' }
  return { state: 'failed', ...(error === undefined ? {} : { error }) }
}

function about({ className, key }: StoredLayouts, { layout, order }: StoredLayout): Omit<Finding, 'state'> {
  const { property, kind } = layout
  return {
    kind: 'wrongLayout',
    className,
    property,
    key,
    truth: className,
    repair: 'convert',
    message: `${className} ${describeKey(key)} stores the ${kind} of ${property} ${NAMES[order]}, and the class declares it ${NAMES[layout.order]}; a save does not change that, db.layout.sync() does.`,
  }
}

const NAMES = { unordered: 'unordered', ordered: 'ordered', keyValue: 'ordered by key and value' } as const
