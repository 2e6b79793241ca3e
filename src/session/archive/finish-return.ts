import { isDeepStrictEqual } from 'node:util'
import { ARCHIVING_BIN, MOVED_BIN, type EntityModel } from '../../model/index.js'
import { binEquals, remove, write, type Bins, type Guard } from '../../plan/command.js'
import { writeBin } from '../../plan/operations.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { MoveAccess } from './move-access.js'
import type { CompanionMover } from './move-companions.js'
import { claimAfter, claimOf } from './moving-record.js'

/** A record that has come back, and what is in the archive in its place. */
export interface Returned {
  readonly from: RecordKey
  readonly to: RecordKey
  readonly bins: Bins
  /** Absent where nothing is there, or where it may be newer than the record. */
  readonly left?: StoredRecord
}

/**
 * The archived copy of a record that is outside, where it holds nothing that the record does not. A copy that was claimed later is the same as
 * the record, or the record was opened, before which its mover has seen that nobody else had claimed the copy.
 */
export function leftInArchive(
  record: Bins,
  copy: StoredRecord | null,
  areOpened: boolean,
): { readonly left?: StoredRecord } {
  if (copy === null || !(MOVED_BIN in record)) return {}
  const isOpened = areOpened && !(ARCHIVING_BIN in record)
  const isOlder = claimOf(copy.bins) <= claimOf(record)
  return isOlder || isOpened || isDeepStrictEqual(withoutState(copy.bins), withoutState(record)) ? { left: copy } : {}
}

function withoutState({ [MOVED_BIN]: _, [ARCHIVING_BIN]: __, ...bins }: Bins): Bins {
  return bins
}

/**
 * Opens a record that has come back, and deletes what is left of it in the archive. It is claimed anew before: another mover that is at work
 * takes a copy that is gone for a record that was deleted, and must not delete this one. False where another mover was faster.
 */
export async function finishReturn(
  found: Returned,
  model: EntityModel,
  companions: CompanionMover | undefined,
  access: MoveAccess,
): Promise<boolean> {
  const { name, durableDelete } = model
  const claim = claimAfter(found.bins, found.left?.bins)
  if (!(await reclaim(found, name, claim, access))) return false
  const { from, to, left } = found
  const { [ARCHIVING_BIN]: closed } = found.bins
  const owner = { from, to, bins: { ...found.bins, [MOVED_BIN]: claim }, claim, isReturned: true } as const
  if (closed != null && companions !== undefined) {
    // The mover that closed it has copied its companions, whoever has claimed it since.
    const open = (): Promise<boolean> => companions.open(to, owner.bins, from.namespace, Number(closed))
    if (!(await open())) {
      await companions.complete(owner)
      if (!(await open())) return false
    }
  }
  if (left === undefined) return true
  const guards = [binEquals(MOVED_BIN, (left.bins[MOVED_BIN] ?? null) as number | null)]
  await access.run([remove(name, from, { guards, durableDelete })])
  // Companions of the copy may be others, where members have moved since.
  await companions?.removeFrom([owner, { ...owner, bins: left.bins }], true)
  return true
}

/** Claims a record later than all movers of its copy have. */
async function reclaim({ to, bins }: Returned, name: string, claim: number, access: MoveAccess): Promise<boolean> {
  const guards = [MOVED_BIN, ARCHIVING_BIN].map((each): Guard => binEquals(each, (bins[each] ?? null) as number | null))
  const options = { exists: 'mustExist', ttl: 'keep', guards } as const
  const [{ state }] = await access.run([write(name, to, [writeBin(MOVED_BIN, claim)], options)])
  return state === 'written'
}
