import { readProperty } from '../../../codec/index.js'
import { read, type Bins } from '../../../plan/command.js'
import type { Outcome } from '../../../plan/outcome.js'
import { recordId, type UserKey } from '../../../plan/record-key.js'
import { sameValue } from '../../../plan/same-value.js'
import type { Reader } from '../../../relations/contract/reader.js'
import { refStateOf } from '../../../relations/state/state-of.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import type { RunResult } from './execute-stages.js'
import type { ChangeSet } from '../collect/change-set.js'

/**
 * Orphans that are refused because another session has given them a parent meanwhile are none: they stay as they are stored, and so does what
 * only they would have taken along. True when nothing else has failed, so that what is left can be planned again.
 */
export async function keepRelinkedOrphans(work: ChangeSet, { failed }: RunResult, reader: Reader): Promise<boolean> {
  const refused = new Set(failed.filter(isRefused).map(({ command }) => recordId(command.key)))
  const orphans = refused.size === 0 ? [] : [...work.removed].filter((each) => isOrphan(each, refused))
  if (orphans.length === 0) return false
  const records = await reader.read(
    orphans.map(({ model, key, deleteIntent }) => read(model.name, key, [deleteIntent!.orphanGuard!.bin])),
  )
  const spared = new Set(orphans.filter((orphan, i) => spare(orphan, records[i]?.bins ?? {}, reader)))
  work.rollbackWhere(work.onlyFor(spared))
  const ids = new Set([...spared].map(({ key }) => recordId(key)))
  return spared.size > 0 && failed.every((outcome) => isUnsent(outcome) || ids.has(recordId(outcome.command.key)))
}

/** False when it is still where it was: then its version is what has changed. */
function spare(orphan: ManagedEntity, bins: Bins, reader: Reader): boolean {
  const { bin, expected } = orphan.deleteIntent!.orphanGuard!
  const stored = (bins[bin] ?? null) as UserKey | null
  if (sameValue(expected, stored)) return false
  const strategy = orphan.mapped.relations.find(({ model }) => model.bin === bin)
  // Without one, it was to be purged, and somebody has restored it.
  if (strategy !== undefined) {
    const { model } = strategy
    const parent = stored === null ? null : reader.fromStored(reader.entityModel(model.target), stored)
    refStateOf(readProperty(orphan.entity, model.name) as object).takeStored(parent)
  }
  orphan.keep()
  return true
}

const isOrphan = ({ deleteIntent, key }: ManagedEntity, refused: ReadonlySet<string>): boolean =>
  deleteIntent?.orphanGuard !== undefined && refused.has(recordId(key))
const isRefused = ({ reason }: Outcome): boolean => reason === 'guard'
const UNDONE: ReadonlySet<Outcome['reason']> = new Set<Outcome['reason']>([
  'notSent',
  'undone',
  'abandoned',
  'rolledBack',
])
const isUnsent = ({ reason }: Outcome): boolean => UNDONE.has(reason)
