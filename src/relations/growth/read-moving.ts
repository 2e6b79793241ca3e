import { COMPANION_SHARDS_BIN, type EntityModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { recordId, userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Reader } from '../contract/reader.js'
import type { LinkEntry } from '../write/link-bin.js'
import type { GrowingScheme } from './growing-scheme.js'
import { ROOT, type Move } from './placement.js'
import type { StoredLinks } from './stored-links.js'

/** Reads, and helps with a move where it can. */
export type ReadAccess = Pick<Reader, 'read'> & Partial<Pick<Reader, 'direct' | 'isInside'>>

interface Place {
  readonly model: EntityModel
  readonly stored: StoredLinks
  readonly scheme: GrowingScheme
}

/**
 * Reads all members while they move. Each is copied before it is taken out, so whoever reads where they come from before where they go misses
 * none. Undefined where the move has ended, or another one has begun, before all was read. A home that is missing has no members: the
 * owner may be being deleted.
 */
export async function readMoving(
  owner: RecordKey,
  place: Place,
  access: ReadAccess,
): Promise<readonly LinkEntry[] | undefined> {
  const { model, stored, scheme } = place
  const { move: moveBin, gone } = scheme.bins
  const [root] = await access.read([read(model.name, owner, [...scheme.names, ...stored.names])])
  const { move } = scheme.learn(owner, root?.bins ?? {})
  if (move === undefined) return undefined
  const isFromRoot = move.from === ROOT
  const old = isFromRoot
    ? [root]
    : await access.read(scheme.homes(owner, move.from).map((home) => read(model.name, home, stored.names)))
  // Prepared only: all are where they were.
  if (move.phase === 'prepare') return isStill(owner, move, place, access, old)
  const homes = scheme.homes(owner, move.to)
  const records = await access.read(
    homes.map((home) => read(model.name, home, [...stored.names, moveBin, gone, COMPANION_SHARDS_BIN])),
  )
  const isMissing = records.includes(null)
  if (!records.every((record) => record === null || takesPart(record, move, moveBin))) return undefined
  if (isMissing && !(await isIn(owner, move, place, access))) return undefined
  const byId = new Map(homes.map((home, i) => [recordId(home), records[i]]))
  return merged(owner, move, place, old, byId)
}

/** The owner is asked again: nothing has moved while the records were read. */
async function isStill(
  owner: RecordKey,
  move: Move,
  place: Place,
  access: ReadAccess,
  old: readonly (StoredRecord | null)[],
): Promise<readonly LinkEntry[] | undefined> {
  if (!(await isIn(owner, move, place, access))) return undefined
  return old.flatMap((record) => place.stored.in(record?.bins))
}

/** True where the owner says of the move what it has said before. */
async function isIn(owner: RecordKey, { id, phase }: Move, place: Place, access: ReadAccess): Promise<boolean> {
  const { model, scheme } = place
  const [root] = await access.read([read(model.name, owner, scheme.names)])
  const { move } = scheme.learn(owner, root?.bins ?? {})
  return move?.id === id && move.phase === phase
}

function takesPart(record: StoredRecord, { id, to }: Move, moveBin: string): boolean {
  const stored = record.bins[moveBin]
  if (stored !== undefined && stored !== null) return Number(stored) === id
  return to !== ROOT && record.bins[COMPANION_SHARDS_BIN] === to
}

function merged(
  owner: RecordKey,
  move: Move,
  { stored, scheme }: Place,
  old: readonly (StoredRecord | null)[],
  homes: ReadonlyMap<string, StoredRecord | null>,
): readonly LinkEntry[] {
  const all = new Map<string, LinkEntry>()
  const { move: moveBin, gone } = scheme.bins
  const homeOf = (key: UserKey): RecordKey => scheme.homeOf(owner, key, move.to)
  const out = new Map(
    [...homes].map(([id, record]) => [id, new Set(((record?.bins[gone] ?? []) as readonly UserKey[]).map(userKeyId))]),
  )
  for (const record of old)
    for (const entry of stored.in(record?.bins)) {
      const home = recordId(homeOf(entry[0]))
      // A member whose home is complete would be there; a home that is missing has none yet.
      const record = homes.get(home)!
      const isOpen = record === null || (record.bins[moveBin] ?? null) !== null
      if (isOpen && !out.get(home)!.has(userKeyId(entry[0]))) all.set(userKeyId(entry[0]), entry)
    }
  for (const [id, record] of homes)
    for (const entry of stored.in(record?.bins))
      if (recordId(homeOf(entry[0])) === id) all.set(userKeyId(entry[0]), entry)
  return [...all.values()]
}
