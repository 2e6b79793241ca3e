import type { Snapshot } from '../../../codec/index.js'
import { write, type Ttl, type WriteCommand } from '../../../plan/command.js'
import { touch } from '../../../plan/operations.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { ownChanges } from '../../counters/own-changes.js'
import { needsPatch, planPatch, withRecorded } from './patch.js'
import { isVersionAssigned, versionAssigned } from '../../tracking/expected-version.js'
import { checkCounts } from '../../tracking/assigned-counts.js'
import { growthOf, isWorthMeasuring } from './record-growth.js'
import { RecordWrite } from './record-write.js'
import { ttlOfUpdate, wantsTtl } from './ttl.js'

/** The write that brings a stored record up to date: only what changed, under the version it was loaded with. */
export function planUpdate(managed: ManagedEntity, now: Date): RecordWrite | undefined {
  const { entity, key, model, mapped, version } = managed
  const { codec } = mapped
  if (isVersionAssigned(managed)) throw versionAssigned(managed)
  checkCounts(managed)
  const changes = ownChanges(managed, withRecorded(managed, codec.diff(entity, managed.snapshot!, managed.loaded)))
  if (managed.isUnread && needsPatch(managed, changes)) return planPatch(managed, changes, now)
  if (changes.length === 0) return wantsTtl(managed) ? planTouch(managed) : undefined
  const { operations, guards } = codec.stamps.update(version, now)
  const ttl = ttlOfUpdate(managed)
  const growth = growthOf(changes)
  const command = write(model.name, key, operations.length === 0 ? changes : [...changes, ...operations], {
    exists: 'mustExist',
    guards: mapped.ownGuards.length === 0 ? guards : [...guards, ...mapped.ownGuards],
    ttl,
    watchSize: isWorthMeasuring(managed, growth),
    watchGeneration: model.generationProperty !== undefined,
  })
  return new RecordUpdate(managed, command, codec.snapshot(entity), ttl, now, growth)
}

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
