import type { Snapshot } from '../../../codec/index.js'
import { deletedBinOf } from '../../../model/index.js'
import type { WriteOperation } from '../../../plan/operation.js'
import { deletedAtOf } from '../../tracking/soft-deleted.js'
import { type Guard, type Ttl, whileThere, write, type WriteCommand } from '../../../plan/command.js'
import { touch } from '../../../plan/operations.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { ownChanges } from '../../counters/own-changes.js'
import { needsPatch, planPatch, withRecorded } from './patch.js'
import { checkDerived, isVersionAssigned, versionAssigned } from '../../tracking/assigned-values.js'
import { guardImmutable } from '../../tracking/immutable-values.js'
import { growthOf, isWorthMeasuring } from '../../../plan/wire-bytes.js'
import { RecordWrite, ttlOfUpdate, wantsTtl } from './record-write.js'

/** The write that brings a stored record up to date: only what changed, under the version it was loaded with. */
export function planUpdate(managed: ManagedEntity, now: Date): RecordWrite | undefined {
  const { entity, key, model, mapped, version } = managed
  const { codec } = mapped
  if (isVersionAssigned(managed)) throw versionAssigned(managed)
  if (mapped.hasDerived) checkDerived(managed)
  const unchanging = guardImmutable(managed)
  const changes = ownChanges(managed, withRecorded(managed, codec.diff(entity, managed.snapshot!, managed.loaded)))
  if (managed.isUnread && needsPatch(managed, changes)) return planPatch(managed, changes, now)
  if (changes.length === 0) return wantsTtl(managed) ? planTouch(managed) : undefined
  const { operations, guards } = codec.stamps.update(version, now)
  const ttl = ttlOfUpdate(managed)
  const growth = growthOf(changes)
  const command = write(model.name, key, operations.length === 0 ? changes : [...changes, ...operations], {
    exists: 'mustExist',
    guards: withOwn(unchanging.length === 0 ? guards : [...guards, ...unchanging], managed, changes),
    ttl,
    watchSize: isWorthMeasuring(managed, growth),
    watchGeneration: model.generationProperty !== undefined,
  })
  const snapshot = codec.snapshot(entity)
  // Without a version and times the base class does, and is cheaper: calling the constructor of a base class costs as much as all that it does.
  if (codec.stamps.isEmpty) return new RecordWrite(managed, command, snapshot, ttl, growth)
  return new RecordUpdate(managed, command, snapshot, ttl, now, growth)
}

/** Adds the conditions of its class: that the record is of it, and was not deleted softly. */
function withOwn(
  guards: readonly Guard[],
  managed: ManagedEntity,
  changes: readonly WriteOperation[],
): readonly Guard[] {
  const { model, mapped } = managed
  if (mapped.ownGuards.length === 0 && model.deletedAt === undefined) return guards
  return [...guards, ...mapped.ownGuards, ...(isLive(managed, changes) ? [whileThere(model)] : [])]
}

/** True for an entity that was not deleted softly when it was read: then nobody else may have done so since. */
function isLive(managed: ManagedEntity, changes: readonly WriteOperation[]): boolean {
  const deletedBin = deletedBinOf(managed.model)
  if (deletedBin === undefined) return false
  const change = changes.find((operation) => 'bin' in operation && operation.bin === deletedBin)
  if (change !== undefined) return change.kind === 'writeBin' && !wasDeleted(managed)
  return deletedAtOf(managed) === undefined
}

/** True for a link that takes over the time of its other end in place of its own. */
const wasDeleted = ({ mapped, model, snapshot }: ManagedEntity): boolean =>
  mapped.codec.isStored(snapshot!, model.deletedAt!)

class RecordUpdate extends RecordWrite {
  readonly #known: number | undefined
  readonly #now: Date

  constructor(managed: ManagedEntity, command: WriteCommand, snapshot: Snapshot, ttl: Ttl, now: Date, growth: number) {
    super(managed, command, snapshot, ttl, growth)
    this.#known = managed.version
    this.#now = now
  }

  protected override versionAfter(): number | undefined {
    return this.managed.model.version === undefined ? undefined : (this.#known ?? 0) + 1
  }

  protected override stamp(): void {
    const { mapped, entity } = this.managed
    mapped.codec.stamps.updated(entity, this.#known, this.#now)
  }
}

/** Gives the record another expiry and nothing else: no new version, because nothing that people see has changed. */
function planTouch(managed: ManagedEntity): RecordWrite {
  const { key, model } = managed
  const ttl = ttlOfUpdate(managed)
  const watchGeneration = model.generationProperty !== undefined
  const command = write(model.name, key, [touch()], {
    exists: 'mustExist',
    guards: managed.mapped.ownGuards,
    ttl,
    watchGeneration,
  })
  return new RecordWrite(managed, command, managed.snapshot!, ttl)
}
