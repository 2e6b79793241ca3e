import { CLOSED_BIN, MOVED_BIN } from '../../model/index.js'
import { binEquals, read, write, type Bins, type WriteCommand } from '../../plan/command.js'
import { touch } from '../../plan/operations.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { MoveAccess } from './move-access.js'
import { claimedBy } from './move-guards.js'
import { opening } from './moved-companions.js'
import { claimOf } from './moving-record.js'

/** A record whose companions are opened. */
export interface OpenedOwner {
  readonly bins: Bins
  readonly archive: string
  /** Claim of the move that has closed it. */
  readonly since: number
}

/** Commands that open companions of a record; undefined where one is missing that is in the archive, or claimed by another mover. */
export async function openingsOf(
  homes: readonly RecordKey[],
  { bins, archive, since }: OpenedOwner,
  name: string,
  access: MoveAccess,
): Promise<readonly WriteCommand[] | undefined> {
  const reads = homes.flatMap((home) => [
    read(name, home, [CLOSED_BIN, MOVED_BIN]),
    read(name, { ...home, namespace: archive }, [MOVED_BIN]),
  ])
  const found = await access.read(reads)
  const isLeft = (i: number): boolean => Number(found[2 * i + 1]?.bins[MOVED_BIN] ?? -1) >= since
  // A mover with a later claim has closed it, and copies what it has read.
  const isLater = (i: number): boolean => claimOf(found[2 * i]?.bins) > claimOf(bins)
  if (homes.some((_, i) => isLater(i) || (found[2 * i] === null && isLeft(i)))) return undefined
  return homes.flatMap((home, i) => {
    const record = found[2 * i]
    if (record === null) return []
    const closed = (record.bins[CLOSED_BIN] ?? null) as string | number | null
    return write(name, home, closed === null ? [touch()] : opening(closed), {
      exists: 'mustExist',
      ttl: 'keep',
      guards: [binEquals(CLOSED_BIN, closed), claimedBy(record.bins)],
    })
  })
}
