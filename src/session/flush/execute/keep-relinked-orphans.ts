import { readProperty } from '../../../codec/index.js'
import type { Driver } from '../../../driver/driver.js'
import { deletedBinOf, type RelationModel } from '../../../model/index.js'
import { binEquals, read, write, type Bins, type WriteCommand } from '../../../plan/command.js'
import { addToBin, removeBin } from '../../../plan/operations.js'
import type { Outcome } from '../../../plan/outcome.js'
import { recordId, type UserKey } from '../../../plan/record-key.js'
import { sameValue } from '../../../plan/same-value.js'
import type { Reader } from '../../../relations/contract/reader.js'
import type { Tracked } from '../../../relations/contract/tracked.js'
import { refStateOf } from '../../../relations/state/state-of.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { isSoftDelete } from '../../tracking/soft-deleted.js'
import type { RunResult } from './execute-stages.js'
import type { ChangeSet } from '../collect/change-set.js'

/**
 * Children that are refused because another session has given them to somebody else, or to nobody, stay as they are stored, and so does what only
 * they would have taken along. True when nothing else has failed, so that what is left can be planned again.
 */
export async function keepRelinkedOrphans(
  work: ChangeSet,
  { outcomes, failed }: RunResult,
  reader: Reader,
  driver: Driver,
): Promise<boolean> {
  const refused = new Set(failed.filter(isRefused).map(({ command }) => recordId(command.key)))
  const children = refused.size === 0 ? [] : [...work.removed].filter((each) => isGuarded(each, refused))
  if (children.length === 0) return false
  const records = await reader.read(
    children.map(({ model, key, deleteIntent }) => read(model.name, key, asked(model, deleteIntent!.orphanGuard?.bin))),
  )
  const spared = new Set(children.filter((child, i) => spare(child, records[i]?.bins ?? {}, reader)))
  const isOnlyTheirs = work.onlyFor(spared)
  const taken = [...work.removed].filter((each) => isSoftDelete(each) && !spared.has(each) && isOnlyTheirs(each))
  if (taken.length > 0 && !reader.isInside) await driver.run(untaken(taken, outcomes))
  work.rollbackWhere(isOnlyTheirs)
  const ids = new Set([...spared].map(({ key }) => recordId(key)))
  return spared.size > 0 && failed.every((outcome) => isUnsent(outcome) || ids.has(recordId(outcome.command.key)))
}

const asked = (model: ManagedEntity['model'], bin: string | undefined): readonly string[] =>
  [bin, deletedBinOf(model)].filter((each) => each !== undefined)

/** False when it is still where it was: then its version is what has changed. */
function spare(child: ManagedEntity, bins: Bins, reader: Reader): boolean {
  const isGone = isSoftDelete(child) && bins[deletedBinOf(child.model)!] !== undefined
  // Another session has deleted it, with all that it takes along.
  if (isGone) child.home.remove(child)
  if (isGone) return true
  const { orphanGuard } = child.deleteIntent!
  if (orphanGuard === undefined) return false
  const { bin, expected } = orphanGuard
  const stored = (bins[bin] ?? null) as UserKey | null
  if (sameValue(expected, stored)) return false
  const strategy = child.mapped.relations.find(({ model }) => model.bin === bin)
  // Without one, it was to be purged, and somebody has restored it.
  if (strategy !== undefined) {
    const { model } = strategy
    const parents = reader.entityModel(model.target)
    const parent = stored === null ? null : reader.fromStored(parents, stored)
    refStateOf(readProperty(child.entity, model.name) as object).takeStored(parent)
    if (expected !== null)
      forgetAt(reader.known(model.target, reader.fromStored(parents, expected)), model, child, reader)
  }
  child.keep()
  return true
}

/** The partner that it had has it no more, whatever the record of that one said when it was read. */
function forgetAt(
  former: Tracked | undefined,
  { inverse }: RelationModel,
  { entity }: ManagedEntity,
  reader: Reader,
): void {
  const back = former?.model.relations.find(({ name, holds }) => name === inverse && holds === 'ref')
  if (back === undefined) return
  refStateOf(readProperty(former!.entity, back.name) as object).forget(reader.keyOf(entity, back.target)!)
}

/** Restores what was deleted softly before the child that it belongs to was refused, because a soft delete begins with those. */
function untaken(taken: readonly ManagedEntity[], outcomes: readonly Outcome[]): readonly WriteCommand[] {
  const byId = new Map(taken.map((managed) => [recordId(managed.key), managed]))
  return outcomes.flatMap(({ command, state }): WriteCommand[] => {
    const managed = byId.get(recordId(command.key))
    if (managed === undefined || state !== 'written') return []
    const { model, key, mapped } = managed
    const bin = deletedBinOf(model)!
    const stamp = command.operations.find((each) => each.kind === 'writeBin' && each.bin === bin)
    if (stamp?.kind !== 'writeBin') return []
    const counted = model.version === undefined ? [] : [addToBin(mapped.binOf(model.version)!, 1)]
    const guards = [binEquals(bin, stamp.value as number)]
    return [write(model.name, key, [removeBin(bin), ...counted], { exists: 'mustExist', ttl: 'keep', guards })]
  })
}

/** True for a child that another session may have taken; in a transaction only its own delete tells, where that is a soft one. */
function isGuarded(managed: ManagedEntity, refused: ReadonlySet<string>): boolean {
  const { deleteIntent, key } = managed
  const isTakenAlong = deleteIntent?.asked === 0 && isSoftDelete(managed)
  return (deleteIntent?.orphanGuard !== undefined || isTakenAlong) && refused.has(recordId(key))
}

const isRefused = ({ reason }: Outcome): boolean => reason === 'guard'
const UNDONE: ReadonlySet<Outcome['reason']> = new Set<Outcome['reason']>([
  'notSent',
  'undone',
  'abandoned',
  'rolledBack',
])
const isUnsent = ({ reason }: Outcome): boolean => UNDONE.has(reason)
