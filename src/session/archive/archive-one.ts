import { SkeinError } from '../../errors/index.js'
import { describeKey } from '../../keys/index.js'
import { checkNames } from '../../model/call-options.js'
import type { EntityClass, OutsideTransaction } from '../../model/index.js'
import type { RecordKey } from '../../plan/record-key.js'
import { during } from '../context/activity.js'
import type { KeyInput } from '../context/session-types.js'
import { isDirty } from '../flush/collect/collect-changes.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { SessionCore } from '../session-core.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import { refuseInTransaction } from '../transaction/transaction-scope.js'
import { archiveOf, checkAlone, noteArchived } from './archived.js'
import { RecordMover, type Moves } from './move-records.js'

/** Options of `session.archive` and `session.unarchive`. */
export interface ArchiveOneOptions extends OutsideTransaction {
  readonly signal?: AbortSignal
}

const OPTIONS = { signal: true, outsideTransaction: true } as const

/** Moves one record to the archive, and detaches its entity. */
export async function archiveOne(
  core: SessionCore,
  target: object,
  second: KeyInput | ArchiveOneOptions | undefined,
  third: ArchiveOneOptions | undefined,
): Promise<boolean> {
  const isByKey = typeof target === 'function'
  const options = isByKey ? third : (second as ArchiveOneOptions | undefined)
  check('archive', options)
  const own = isByKey ? undefined : core.work.entities.get(target)
  const mapped = own?.mapped ?? core.mapped(target as EntityClass)
  const { identity } = core.context
  const key = own?.key ?? mapped.recordKeyOf(second, identity.tenant)
  const known = own ?? identity.get(mapped, key.key)
  if (known !== undefined) checkSent(known)
  const direction = { from: mapped.model.namespace, to: archiveOf(mapped) }
  checkAlone(mapped, core.context.classes)
  return moveOne(core, mapped, key, direction, options, (moved, keys) => {
    for (const managed of knownOf(core, moved, keys)) {
      managed.home.remove(managed)
      managed.forgetStored()
      noteArchived(managed.entity)
    }
  })
}

/** Entities of these records that the session has. */
function knownOf({ context }: SessionCore, mapped: MappedClass, keys: readonly RecordKey[]): ManagedEntity[] {
  return keys.flatMap(({ key }) => context.identity.get(mapped, key) ?? [])
}

/** Moves one record back from the archive. */
export async function unarchiveOne(
  core: SessionCore,
  entityClass: EntityClass,
  key: KeyInput,
  options: ArchiveOneOptions | undefined,
): Promise<boolean> {
  check('unarchive', options)
  const mapped = core.mapped(entityClass)
  const record = mapped.recordKeyOf(key, core.context.identity.tenant)
  checkAlone(mapped, core.context.classes)
  return moveOne(core, mapped, record, { from: archiveOf(mapped), to: mapped.model.namespace, isBack: true }, options)
}

function moveOne(
  core: SessionCore,
  mapped: MappedClass,
  key: RecordKey,
  direction: Moves['direction'],
  options: ArchiveOneOptions | undefined,
  moved?: Moves['moved'],
): Promise<boolean> {
  const { context, work } = core
  const { classes, driver } = context
  const before: Moves['before'] = (along, keys) => knownOf(core, along, keys).forEach(checkSent)
  const mover = new RecordMover(mapped, {
    direction,
    classes,
    driver,
    signal: options?.signal,
    tenant: context.identity.tenant,
    before,
    moved,
  })
  const move = async (): Promise<boolean> => (await mover.move([key]))[0]
  return during(context.activity, () => work.queue.runOnRecord(key, move))
}

function check(call: 'archive' | 'unarchive', options: ArchiveOneOptions | undefined): void {
  checkNames(`${call}()`, options, OPTIONS)
  refuseInTransaction(`session.${call}`, options)
}

/** Changes that were not sent yet would be lost. */
function checkSent(managed: ManagedEntity): void {
  const { model, key } = managed
  if (managed.state === 'stored' && !isDirty(managed)) return
  throw new SkeinError('SKEIN_2319', `${model.name} ${describeKey(key.key)} has changes that were not sent yet.`, {
    className: model.name,
    key: key.key,
    fix: 'Flush before it is archived.',
  })
}
