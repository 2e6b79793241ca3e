import { checkTenant } from '../context/check-arguments.js'
import type { Driver } from '../../driver/driver.js'
import { TENANT, type Tenant } from '../../keys/index.js'
import { checkNames, notValid, shown, type NamesOf } from '../../model/call-options.js'
import { DELETING_BIN, type OutsideTransaction } from '../../model/index.js'
import { and, bin, binExists, lt, not, value } from '../../plan/expression.js'
import { query } from '../../plan/query-command.js'
import { sweepWithoutTenant } from '../context/session-errors.js'
import { foundKey } from '../load/key-of-found.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { archiveOf, checkAlone } from './archived.js'
import { RecordMover } from './move-records.js'

/** Progress of archiving. */
export interface ArchiveProgress {
  /** Records that were moved. */
  readonly archived: number
}

export interface ArchiveOptions extends OutsideTransaction {
  /** Records whose time lies before this are moved. */
  readonly olderThan: Date
  /** The Date property that says the time; `@UpdatedAt`, or else `@CreatedAt`, unless given. */
  readonly by?: string
  /** Tenant whose records are wanted, where the keys of the class belong to tenants. */
  readonly tenant?: Tenant
  readonly onProgress?: (progress: ArchiveProgress) => unknown
  readonly signal?: AbortSignal
}

const OPTIONS: NamesOf<ArchiveOptions> = {
  olderThan: true,
  by: true,
  tenant: true,
  onProgress: true,
  signal: true,
  outsideTransaction: true,
}

/** Records moved together. */
const STEP = 100

/** Moves the records of a class whose time lies before another one to the archive; says how many. */
export async function archiveClass(
  mapped: MappedClass,
  classes: MappedClasses,
  driver: Driver,
  options: ArchiveOptions,
): Promise<number> {
  const { tenant, signal, onProgress } = options
  const { name: entity, namespace, set, key: keyModel } = mapped.model
  if (tenant === undefined && keyModel.tenant && !keyModel.properties.includes(TENANT)) throw sweepWithoutTenant(mapped)
  const to = archiveOf(mapped)
  const time = mapped.binOf(timeOf(mapped, options.by))!
  const filter = and(
    not(binExists(DELETING_BIN)),
    binExists(time),
    lt(bin('int', time), value(options.olderThan.getTime())),
  )
  const command = query({ entity, namespace, set, bins: mapped.codec.binsOf([]), filter })
  const mover = new RecordMover(mapped, { direction: { from: namespace, to }, classes, driver, signal, tenant })
  let moved = 0
  for await (const records of driver.query(command, { signal })) {
    const keys = records.flatMap((record) => foundKey(mapped, record, tenant)?.record ?? [])
    for (let i = 0; i < keys.length; i += STEP) {
      moved += (await mover.move(keys.slice(i, i + STEP))).filter(Boolean).length
      await onProgress?.({ archived: moved })
    }
  }
  return moved
}

export function checkArchiveOptions(mapped: MappedClass, classes: MappedClasses, options: ArchiveOptions): void {
  archiveOf(mapped)
  checkAlone(mapped, classes)
  checkNames('archive()', options, OPTIONS)
  checkTenant(options.tenant)
  const { olderThan, by } = options
  if (!(olderThan instanceof Date) || Number.isNaN(olderThan.getTime()))
    throw notValid(`${shown(olderThan)} is not a valid value for the option olderThan.`, 'Give a Date.')
  timeOf(mapped, by)
}

/** The property that says how old a record is. */
function timeOf({ model }: MappedClass, by: unknown): string {
  const name = by ?? model.updatedAt ?? model.createdAt
  const property = model.properties.find((each) => each.name === name)
  if (property?.type.kind === 'date') return property.name
  const what =
    by === undefined ? `${model.name} has no @UpdatedAt or @CreatedAt` : `${shown(by)} is not a Date of ${model.name}`
  throw notValid(`${what}, so nothing says how old its records are.`, "Name a Date property: by: '…'.")
}
