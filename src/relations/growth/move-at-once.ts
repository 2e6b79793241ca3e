import { bug } from '../../errors/index.js'
import { COMPANION_SHARDS_BIN } from '../../model/index.js'
import { read, type DeleteCommand, type WriteCommand } from '../../plan/command.js'
import { recordSize } from '../../plan/expression.js'
import { readBin, readExpression, writeBin } from '../../plan/operations.js'
import type { Outcome } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { InsideAccess, SplitAccess } from '../../plan/split-access.js'
import type { LinkEntry } from '../write/link-bin.js'
import { placementIn, ROOT, type Shards } from './placement.js'
import type { MovedMembers } from './member-moves.js'
import { recodedEntry } from './stored-links.js'

/** Bytes that one transaction moves at most: it keeps all writers of the collection waiting. */
const MOST_BYTES = 8 * 1024 * 1024

const SIZE = '_sk.size'

/** A record that takes part, as the transaction has locked it. */
interface Home {
  readonly key: RecordKey
  readonly isThere: boolean
  readonly entries: readonly LinkEntry[]
}

/** Moves all members in one transaction, so that nobody sees them on the way, and nothing is left to be finished. */
export class MoveAtOnce {
  readonly #members: MovedMembers

  constructor(members: MovedMembers) {
    this.#members = members
  }

  /** Says how many members it has moved; undefined where it cannot be one transaction, and nothing was changed. */
  async run(owner: RecordKey, from: Shards, to: Shards, access: SplitAccess): Promise<number | undefined> {
    const records = new Set([owner, ...this.#companions(owner, from), ...this.#companions(owner, to)].map(recordId))
    if (records.size > access.mostWrites(owner.namespace)) return undefined
    let moved = 0
    const isDone = await access.atOnce(async (inside) => {
      const homes = await this.#lock(owner, from, to, inside)
      if (homes === undefined) return false
      const all = homes.flatMap(({ key, entries }) => entries.map((entry) => ({ entry, from: recordId(key) })))
      const away = all.filter(({ entry, from }) => recordId(this.#members.scheme.homeOf(owner, entry[0], to)) !== from)
      moved = away.length
      const commands = this.#commandsOf(owner, to, homes)
      return isWritten(await inside.run(commands))
    })
    return isDone ? moved : undefined
  }

  /** Locks all records that hold members, and reads them: from then on nobody else changes them. */
  async #lock(owner: RecordKey, from: Shards, to: Shards, inside: InsideAccess): Promise<readonly Home[] | undefined> {
    const questions = [...this.#members.stored.names.map(readBin), readExpression(SIZE, recordSize())]
    const sources = this.#companions(owner, from)
    const [root, ...rest] = [
      ...(await inside.run([this.#members.commands.lockOwner(owner, questions)])),
      ...(await inside.run(sources.map((home) => this.#members.commands.lock(home, from, questions)))),
    ]
    // A companion that was never made holds nothing.
    const isLocked = isWritten([root]) && isWritten(rest.filter(({ reason }) => reason !== 'missing'))
    const locked = [root, ...rest]
    if (!isLocked || placementIn(this.#members.commands.told(root), this.#members.scheme.bins)?.shards !== from)
      return undefined
    if (locked.reduce((sum, { bins }) => sum + Number(bins[SIZE] ?? 0), 0) > MOST_BYTES) return undefined
    const known = new Set([owner, ...sources].map(recordId))
    const made = this.#companions(owner, to).filter((home) => !known.has(recordId(home)))
    const inTheWay = await inside.read(made.map((home) => read(this.#members.commands.model.name, home, 'none')))
    if (inTheWay.some((record) => record !== null)) return undefined
    return [
      ...[owner, ...sources].map((key, i) => this.#homeOf(key, locked[i])),
      ...made.map((key) => ({ key, isThere: false, entries: [] })),
    ]
  }

  #homeOf(key: RecordKey, { state, bins }: Outcome): Home {
    return { key, isThere: state === 'written', entries: this.#members.stored.in(bins) }
  }

  /** Makes one command for each record. */
  #commandsOf(owner: RecordKey, to: Shards, homes: readonly Home[]): (WriteCommand | DeleteCommand)[] {
    const targets = new Map(this.#companions(owner, to).map((home, i) => [recordId(home), i]))
    const arriving = new Map<string, LinkEntry[]>()
    for (const home of homes)
      for (const found of home.entries) {
        const id = recordId(this.#members.scheme.homeOf(owner, found[0], to))
        if (id === recordId(home.key)) continue
        const entry = recodedEntry(found, this.#members.recode)
        const known = arriving.get(id)
        if (known === undefined) arriving.set(id, [entry])
        else known.push(entry)
      }
    return homes.map((home) => {
      const id = recordId(home.key)
      const coming = arriving.get(id) ?? []
      const leaving = home.entries.filter(([key]) => recordId(this.#members.scheme.homeOf(owner, key, to)) !== id)
      const isOwner = id === recordId(owner)
      if (isOwner) return this.#members.commands.settled(owner, this.#changes(home.key, coming, leaving), to)
      const shard = targets.get(id)
      if (shard === undefined) return this.#members.commands.drop(home.key)
      if (home.isThere) {
        const says = writeBin(COMPANION_SHARDS_BIN, to)
        return this.#members.commands.change(
          [...this.#changes(home.key, coming, leaving), says],
          home.key,
          { shards: to },
          true,
        )
      }
      const create = this.#members.commands.create(owner, home.key, to === 0 ? undefined : shard, to)
      return { ...create, operations: [...create.operations, ...this.#changes(home.key, coming, [])] }
    })
  }

  #changes(home: RecordKey, coming: readonly LinkEntry[], leaving: readonly LinkEntry[]): WriteCommand['operations'] {
    const keys = leaving.map(([key]) => key)
    return [
      ...(leaving.length === 0 ? [] : this.#members.commands.takeFrom(home, keys, undefined, leaving).operations),
      ...(coming.length === 0 ? [] : this.#members.commands.arrivals(home, coming)),
    ]
  }

  #companions(owner: RecordKey, shards: Shards): readonly RecordKey[] {
    return shards === ROOT ? [] : this.#members.scheme.homes(owner, shards)
  }
}

/** True where all were; a conflict is thrown, because another attempt may succeed. */
function isWritten(outcomes: readonly Outcome[]): boolean {
  const failed = outcomes.find(({ state }) => state !== 'written')
  if (failed === undefined) return true
  if (failed.reason === 'conflict' || failed.reason === 'unavailable')
    throw failed.error ?? bug(`a move met ${failed.reason}`)
  return false
}
