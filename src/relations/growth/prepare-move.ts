import { EntityGoneError } from '../../errors/index.js'
import { COMPANION_SHARDS_BIN } from '../../model/index.js'
import { read, type DeleteCommand } from '../../plan/command.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import { companionRefused } from '../contract/companion-errors.js'
import type { SplitAccess } from '../../plan/split-access.js'
import type { GrowingCommands } from './growing-commands.js'
import type { GrowingScheme } from './growing-scheme.js'
import { ROOT, type Move, type Shards } from './placement.js'
import { succeeded } from './succeeded.js'

/** Times that a companion is tried: somebody else prepares it, or one that was left behind is deleted first. */
const TRIES = 10

/** A companion that takes part in a move. */
interface Part {
  readonly home: RecordKey
  readonly shard: number | undefined
  isThere: boolean
}

/**
 * Makes all companions of a move, and closes those that are there to writers that do not know of it. Then the owner sends writers to the
 * new homes. Owners that are deleted meanwhile leave nothing that was made here.
 */
export async function prepareMove(
  owner: RecordKey,
  move: Move,
  commands: GrowingCommands,
  scheme: GrowingScheme,
  access: SplitAccess,
  isPreparing: () => Promise<boolean>,
): Promise<void> {
  const made: RecordKey[] = []
  try {
    await joinAll(owner, move, commands, scheme, access, isPreparing, made)
    succeeded(await access.run([commands.open(owner, move)]), ['guard', 'missing'])
    // Throws where the owner is gone.
    await isPreparing()
  } catch (error) {
    if (error instanceof EntityGoneError) {
      const drops = made.map((home) => commands.dropEmptied(home, move))
      succeeded(await access.run(drops), ['guard', 'missing'])
    }
    throw error
  }
}

async function joinAll(
  owner: RecordKey,
  move: Move,
  commands: GrowingCommands,
  scheme: GrowingScheme,
  access: SplitAccess,
  isPreparing: () => Promise<boolean>,
  made: RecordKey[],
): Promise<void> {
  let open = partsOf(owner, move, scheme)
  for (let tries = 0; open.length > 0; tries++) {
    if (tries === TRIES) throw companionRefused(commands.model, owner.key, commands.property)
    const sent = open.map(({ home, shard, isThere }) =>
      isThere ? commands.join(home, move) : commands.create(owner, home, shard, move.to, move),
    )
    const outcomes = succeeded(await access.run(sent), ['guard', 'missing', 'exists'])
    made.push(...open.filter(({ isThere }, i) => !isThere && outcomes[i].state === 'written').map(({ home }) => home))
    open = open.filter((_, i) => outcomes[i].state !== 'written')
    open = await leftToDo(open, move, commands, scheme, access, isPreparing)
  }
}

function partsOf(owner: RecordKey, { from, to }: Move, scheme: GrowingScheme): Part[] {
  const parts = new Map<string, Part>()
  const add = (shards: Shards, isThere: boolean): void => {
    if (shards === ROOT) return
    for (const [i, home] of scheme.homes(owner, shards).entries())
      if (!parts.has(recordId(home))) parts.set(recordId(home), { home, shard: shards === 0 ? undefined : i, isThere })
  }
  add(from, true)
  add(to, false)
  return [...parts.values()]
}

/** Parts that have not joined; a record in the way that belongs to no move of this owner is deleted. */
async function leftToDo(
  open: readonly Part[],
  move: Move,
  commands: GrowingCommands,
  scheme: GrowingScheme,
  access: SplitAccess,
  isPreparing: () => Promise<boolean>,
): Promise<Part[]> {
  if (open.length === 0) return []
  const { move: moveBin } = scheme.bins
  const bins = [moveBin, COMPANION_SHARDS_BIN]
  const records = await access.read(open.map(({ home }) => read(commands.model.name, home, bins)))
  // Asked after the records were read: while it is being prepared, nothing that they show can be what it has brought about.
  const isOver = !(await isPreparing())
  if (isOver) return []
  const left: Part[] = []
  const strays: DeleteCommand[] = []
  open.forEach((part, i) => {
    const record = records[i]
    if (record !== null && Number(record.bins[moveBin]) === move.id) return
    left.push(part)
    part.isThere = record !== null && record.bins[COMPANION_SHARDS_BIN] === move.from
    if (record !== null && !part.isThere) strays.push(commands.dropStray(part.home, record.generation))
  })
  if (strays.length > 0) succeeded(await access.run(strays), ['guard', 'missing', 'generation'])
  return left
}
