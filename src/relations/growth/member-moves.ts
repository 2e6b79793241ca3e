import { COMPANION_SHARDS_BIN } from '../../model/index.js'
import { read } from '../../plan/command.js'
import { readBin } from '../../plan/operations.js'
import { recordId, userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { SplitAccess } from '../../plan/split-access.js'
import { keysAmong, listBin, type LinkEntry } from '../write/link-bin.js'
import type { GrowingCommands } from './growing-commands.js'
import type { GrowingScheme } from './growing-scheme.js'
import type { Move } from './placement.js'
import { recodedEntry, type StoredLinks } from './stored-links.js'
import { succeeded } from './succeeded.js'

/** Members that one round of commands moves. */
const STEP = 2_000

/** Members that one command copies. */
const CHUNK = 500

/** Members of a collection that may move, and how their records are found and written. */
export interface MovedMembers {
  readonly stored: StoredLinks
  readonly commands: GrowingCommands
  readonly scheme: GrowingScheme
  /** Gives the value of a link as it is stored: the client does not return every number so. */
  readonly recode: (carried: Value) => Value
}

/** Copies members to their new homes and takes them out of where they were; those that were taken out meanwhile stay out. */
export class MemberMoves {
  readonly #members: MovedMembers

  constructor(members: MovedMembers) {
    this.#members = members
  }

  /** Moves all that are not at home; says how many that were, and how many found no home that takes them. */
  async all(
    owner: RecordKey,
    move: Move,
    access: SplitAccess,
  ): Promise<{ readonly moved: number; readonly left: number }> {
    let moved = 0
    let left = 0
    for (const source of this.#members.scheme.homes(owner, move.from)) {
      const entries = await this.#awayFrom(owner, source, move, access)
      for (let i = 0; i < entries.length; i += STEP) {
        const some = entries.slice(i, i + STEP)
        const done = await this.#relocate(owner, source, some, move, access)
        moved += done
        left += some.length - done
      }
    }
    return { moved, left }
  }

  async pull(owner: RecordKey, members: readonly UserKey[], move: Move, access: SplitAccess): Promise<void> {
    const wanted = new Set(members.map(userKeyId))
    const sources = new Map(
      members
        .map((member) => this.#members.scheme.homeOf(owner, member, move.from))
        .map((home) => [recordId(home), home]),
    )
    for (const source of sources.values()) {
      const entries = await this.#awayFrom(owner, source, move, access)
      const some = entries.filter(([key]) => wanted.has(userKeyId(key)))
      if (some.length > 0) await this.#relocate(owner, source, some, move, access)
    }
  }

  /** Members of a record that belong in another one. */
  async #awayFrom(owner: RecordKey, source: RecordKey, move: Move, access: SplitAccess): Promise<readonly LinkEntry[]> {
    const { move: moveBin } = this.#members.scheme.bins
    const [record] = await access.read([
      read(this.#members.commands.model.name, source, [...this.#members.stored.names, moveBin]),
    ])
    if (Number(record?.bins[moveBin]) !== move.id) return []
    const here = recordId(source)
    return this.#members.stored
      .in(record!.bins)
      .filter(([key]) => recordId(this.#members.scheme.homeOf(owner, key, move.to)) !== here)
  }

  /** Moves these out of a record; says how many. */
  async #relocate(
    owner: RecordKey,
    source: RecordKey,
    entries: readonly LinkEntry[],
    move: Move,
    access: SplitAccess,
  ): Promise<number> {
    const chunks = this.#byHome(owner, entries, move)
    const copies = chunks.map(({ home, here }) => this.#members.commands.copy(home, here, move))
    const outcomes = succeeded(await access.run(copies), ['guard', 'missing'])
    const done = [...chunks.filter((_, i) => outcomes[i].state === 'written')]
    for (const [i, { state }] of outcomes.entries())
      if (state !== 'written' && (await this.#copyRest(chunks[i], move, access))) done.push(chunks[i])
    const moved = done.flatMap(({ here }) => here)
    const keys = moved.map(([key]) => key)
    if (keys.length > 0)
      succeeded(await access.run([this.#members.commands.takeFrom(source, keys, move, moved)]), ['guard', 'missing'])
    return keys.length
  }

  /** Some were taken out at their new home: the others are copied. False where the move is over, or the home is not there. */
  async #copyRest({ home, here }: Chunk, move: Move, access: SplitAccess): Promise<boolean> {
    const { move: moveBin, gone } = this.#members.scheme.bins
    for (let rest = here; ;) {
      const keys = rest.map(([key]) => key)
      const unreplaced = this.#members.stored.unreplaced(keys)
      const [record] = await access.read([
        read(this.#members.commands.model.name, home, 'none', [
          readBin(moveBin),
          readBin(COMPANION_SHARDS_BIN),
          listBin.among(gone, keys),
          ...unreplaced.map(({ question }) => question),
        ]),
      ])
      if (record === null || Number(record.bins[moveBin]) !== move.id) return false
      const there = unreplaced.flatMap(({ bin }) => keysAmong(record.bins[bin]))
      const out = new Set([...keysAmong(record.bins[gone]), ...there].map(userKeyId))
      // Refused for another reason: the home is being deleted with its owner.
      if (out.size === 0) return false
      rest = rest.filter(([key]) => !out.has(userKeyId(key)))
      if (rest.length === 0) return true
      const [{ state }] = succeeded(await access.run([this.#members.commands.copy(home, rest, move)]), [
        'guard',
        'missing',
      ])
      if (state === 'written') return true
    }
  }

  #byHome(owner: RecordKey, entries: readonly LinkEntry[], move: Move): Chunk[] {
    const homes = new Map<string, { readonly home: RecordKey; readonly all: LinkEntry[] }>()
    for (const entry of entries) {
      const home = this.#members.scheme.homeOf(owner, entry[0], move.to)
      const known = homes.get(recordId(home)) ?? { home, all: [] }
      known.all.push(recodedEntry(entry, this.#members.recode))
      homes.set(recordId(home), known)
    }
    return [...homes.values()].flatMap(({ home, all }) =>
      Array.from({ length: Math.ceil(all.length / CHUNK) }, (_, i) => ({
        home,
        here: all.slice(i * CHUNK, (i + 1) * CHUNK),
      })),
    )
  }
}

/** Members that one command copies to their new home. */
interface Chunk {
  readonly home: RecordKey
  readonly here: readonly LinkEntry[]
}
