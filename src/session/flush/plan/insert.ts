import type { Snapshot } from '../../../codec/index.js'
import { write, writeBins, type Ttl, type WriteCommand } from '../../../plan/command.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { checkCopies, checkCounts } from '../../tracking/assigned-values.js'
import { checkKey, growthOf, isLarge, isWorthMeasuring, RecordWrite, ttlOfNew } from './record-write.js'

/** The write that creates the record of a new entity. */
export function planInsert(managed: ManagedEntity, now: Date): RecordWrite {
  checkKey(managed)
  checkCounts(managed)
  checkCopies(managed)
  const ttl = ttlOfNew(managed)
  const { mapped, entity } = managed
  const command = creationOf(managed, ttl, now)
  return new RecordInsert(managed, command, mapped.codec.snapshot(entity), ttl, now)
}

function creationOf(managed: ManagedEntity, ttl: Ttl, now: Date): WriteCommand {
  const { entity, key, model, mapped } = managed
  const { codec } = mapped
  const { name, sendKey, generationProperty } = model
  const watchGeneration = generationProperty !== undefined
  const stamps = codec.stamps.creation(entity, now)
  const bins = codec.createBins(entity)
  if (bins !== undefined && stamps.length === 0) {
    return writeBins(name, key, bins, {
      exists: 'mustNotExist',
      ttl,
      sendKey,
      watchGeneration,
      watchSize: isLarge(bins),
    })
  }
  const operations = [...codec.create(entity), ...stamps]
  const watchSize = isWorthMeasuring(managed, growthOf(operations))
  return write(name, key, operations, { exists: 'mustNotExist', ttl, sendKey, watchGeneration, watchSize })
}

class RecordInsert extends RecordWrite {
  readonly #now: Date

  constructor(managed: ManagedEntity, command: WriteCommand, snapshot: Snapshot, ttl: Ttl, now: Date) {
    super(managed, command, snapshot, ttl)
    this.#now = now
  }

  protected override versionAfter(): number | undefined {
    return this.managed.model.version === undefined ? undefined : 1
  }

  protected override stamp(): void {
    const { mapped, entity } = this.managed
    mapped.codec.stamps.created(entity, this.#now)
  }
}
