import { whileThere, write, type Guard } from '../../../plan/command.js'
import type { WriteOperation } from '../../../plan/operation.js'
import { countWrite, writeBin, writeMissingBin } from '../../../plan/operations.js'
import type { MappedClass } from '../../mapping/mapped-class.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { recordedChanges } from '../../tracking/write-options.js'
import { growthOf, isWorthMeasuring } from '../../../plan/wire-bytes.js'
import { RecordWrite, ttlOfNew, ttlOfUpdate } from './record-write.js'

const NONE: readonly never[] = Object.freeze([])

/** The changes that handles recorded, then the differences to the snapshot, which shows the recorded ones already. */
export function withRecorded(managed: ManagedEntity, diff: readonly WriteOperation[]): readonly WriteOperation[] {
  const changes = recordedChanges(managed)
  if (changes.length === 0) return diff
  if (diff.length === 0) return changes.map(({ operation }) => operation)
  // A bin that is written as a whole holds the recorded changes, too.
  const whole = new Set(diff.flatMap((one) => (one.kind === 'writeBin' || one.kind === 'removeBin' ? [one.bin] : [])))
  const recorded = changes.map(({ operation }) => operation).filter(({ bin }) => !whole.has(bin))
  return [...recorded, ...diff]
}

/** True when a record that was not read has changes of its own, or is to be made for the sake of its collections. */
export function needsPatch(managed: ManagedEntity, changes: readonly WriteOperation[]): boolean {
  return (
    changes.length > 0 ||
    (managed.stored!.createsRecord && managed.mapped.relations.some((one) => one.hasChanges(managed)))
  )
}

/** Changes a record that was not read: no version is checked, because none is known, but it still counts up. */
export function planPatch(managed: ManagedEntity, changes: readonly WriteOperation[], now: Date): RecordWrite {
  const { entity, key, model, mapped } = managed
  const { createsRecord } = managed.stored!
  const growth = growthOf(changes)
  const ttl = createsRecord ? ttlOfNew(managed) : ttlOfUpdate(managed)
  const stamped = patchStamps(mapped, now)
  const made = createsRecord ? creation(managed, now) : NONE
  const operations = made.length + stamped.length === 0 ? changes : [...made, ...changes, ...stamped]
  const command = write(model.name, key, operations, {
    exists: createsRecord ? 'upsert' : 'mustExist',
    guards: guardsOf(mapped),
    ttl,
    sendKey: createsRecord && model.sendKey,
    watchSize: isWorthMeasuring(managed, growth),
    watchGeneration: model.generationProperty !== undefined,
  })
  // The entity was not read, so it shows nothing of its record.
  return new RecordWrite(managed, command, mapped.codec.snapshot(entity), ttl, growth)
}

function guardsOf({ classGuards, standsAlone, model }: MappedClass): readonly Guard[] {
  if (standsAlone && model.deletedAt === undefined) return classGuards
  return classGuards.length === 0 ? [whileThere(model)] : [...classGuards, whileThere(model)]
}

/** Bins that a new record has and an existing one keeps: the key, the discriminator and the time of creation. */
function creation({ entity, model, mapped }: ManagedEntity, now: Date): readonly WriteOperation[] {
  const { key, discriminator, createdAt } = model
  const constant = discriminator?.value === undefined ? [] : [writeBin(discriminator.bin, discriminator.value)]
  const keys = key.properties.flatMap((name) => mapped.codec.binOperations(entity, name))
  const created = createdAt === undefined ? [] : [writeMissingBin(mapped.binOf(createdAt)!, now.getTime())]
  return [...constant, ...keys, ...created]
}

/** Version and time of a change to a record that was not read. */
export function patchStamps(mapped: MappedClass, now: Date): readonly WriteOperation[] {
  const { version, updatedAt } = mapped.model
  if (version === undefined && updatedAt === undefined) return NONE
  return [
    ...(version === undefined ? [] : [countWrite(mapped.binOf(version)!)]),
    ...(updatedAt === undefined ? [] : [writeBin(mapped.binOf(updatedAt)!, now.getTime())]),
  ]
}
