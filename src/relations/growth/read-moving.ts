import { COMPANION_SHARDS_BIN, type EntityModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { recordId, userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Reader } from '../contract/reader.js'
import type { LinkBin, LinkEntry } from '../write/link-bin.js'
import type { GrowingScheme } from './growing-scheme.js'
import { ROOT, type Move } from './placement.js'

export type ReadAccess = Pick<Reader, 'read'>

interface Place {
  readonly model: EntityModel
  readonly target: EntityModel
  readonly bin: string
  readonly layout: LinkBin
  readonly scheme: GrowingScheme
}

/**
 * Reads all members while they move. Each is copied before it is taken out, so whoever reads where they come from before where they go misses
 * none. Undefined where the move has ended, or another one has begun, before all was read.
 */
export async function readMoving(
  owner: RecordKey,
  place: Place,
  access: ReadAccess,
): Promise<readonly LinkEntry[] | undefined> {
  const { model, bin, scheme } = place
  const { move: moveBin, gone } = scheme.bins
  const [root] = await access.read([read(model.name, owner, [...scheme.names, bin])])
  const { move } = scheme.learn(owner, root?.bins ?? {})
  if (move === undefined) return undefined
  const isFromRoot = move.from === ROOT
  const old = isFromRoot
    ? [root]
    : await access.read(scheme.homes(owner, move.from).map((home) => read(model.name, home, [bin])))
  // Prepared only: all are where they were.
  if (move.phase === 'prepare') return isStill(owner, move, place, access, old)
  const homes = scheme.homes(owner, move.to)
  const records = await access.read(
    homes.map((home) => read(model.name, home, [bin, moveBin, gone, COMPANION_SHARDS_BIN])),
  )
  if (!records.every((record) => takesPart(record, move, moveBin))) return undefined
  const byId = new Map(homes.map((home, i) => [recordId(home), records[i]]))
  return merged(owner, move, place, old, byId)
}

/** The owner is asked again: nothing has moved while the records were read. */
async function isStill(
  owner: RecordKey,
  { id }: Move,
  { model, target, bin, layout, scheme }: Place,
  access: ReadAccess,
  old: readonly (StoredRecord | null)[],
): Promise<readonly LinkEntry[] | undefined> {
  const [root] = await access.read([read(model.name, owner, scheme.names)])
  const { move } = scheme.learn(owner, root?.bins ?? {})
  return move?.id === id && move.phase === 'prepare'
    ? old.flatMap((record) => entriesIn(record, bin, layout, target))
    : undefined
}

function takesPart(record: StoredRecord | null, { id, to }: Move, moveBin: string): boolean {
  if (record === null) return false
  const stored = record.bins[moveBin]
  if (stored !== undefined && stored !== null) return Number(stored) === id
  return to !== ROOT && record.bins[COMPANION_SHARDS_BIN] === to
}

function merged(
  owner: RecordKey,
  move: Move,
  { target, bin, layout, scheme }: Place,
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
    for (const entry of entriesIn(record, bin, layout, target)) {
      const home = recordId(homeOf(entry[0]))
      // Where its home is complete, it would be there.
      const isOpen = (homes.get(home)?.bins[moveBin] ?? null) !== null
      if (isOpen && !out.get(home)!.has(userKeyId(entry[0]))) all.set(userKeyId(entry[0]), entry)
    }
  for (const [id, record] of homes)
    for (const entry of entriesIn(record, bin, layout, target))
      if (recordId(homeOf(entry[0])) === id) all.set(userKeyId(entry[0]), entry)
  return [...all.values()]
}

function entriesIn(
  record: StoredRecord | null,
  bin: string,
  layout: LinkBin,
  target: EntityModel,
): readonly LinkEntry[] {
  const stored = record?.bins[bin]
  return stored === undefined || stored === null ? [] : layout.entriesIn(stored, target)
}
