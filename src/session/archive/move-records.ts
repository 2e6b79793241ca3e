import { isDeepStrictEqual } from 'node:util'
import type { Driver } from '../../driver/driver.js'
import { VersionConflictError } from '../../errors/index.js'
import { DELETING_BIN, MOVED_BIN } from '../../model/index.js'
import { binEquals, holds, read, remove, write, type DeleteCommand, type WriteCommand } from '../../plan/command.js'
import { bin, binExists, le, not, or, value } from '../../plan/expression.js'
import { writeBin } from '../../plan/operations.js'
import type { Outcome, StoredRecord } from '../../plan/outcome.js'
import { showKey, type RecordKey } from '../../plan/record-key.js'
import { flushFailure } from '../flush/execute/flush-failure.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { copyOf } from './copy-record.js'
import { membersOf, type MovingMembers, type ReadRecord } from './move-members.js'

/** Times that a record is read again because others have written to it meanwhile. */
const ATTEMPTS = 8

/** Namespaces between which records are moved. */
interface Direction {
  readonly from: string
  readonly to: string
  /** The way back never overwrites: where both are, the one outside of the archive is the record. */
  readonly isBack?: true
}

/** A record that was read, and is to be moved unless it is where it belongs already. */
interface Found {
  readonly record: ReadRecord
  readonly moving?: Moving
}

/** State that the movers of one call share. */
export interface Moves {
  readonly direction: Direction
  readonly classes: MappedClasses
  readonly driver: Driver
  readonly signal?: AbortSignal
  /** Told before records are moved; throws where one must not be. */
  readonly before?: (mapped: MappedClass, keys: readonly RecordKey[]) => void
  /** Told of records that were moved. */
  readonly moved?: (mapped: MappedClass, keys: readonly RecordKey[]) => void
}

/** Members that are moved together. */
const STEP = 100

/** A record on its way, which its mover has claimed. */
interface Moving {
  readonly from: RecordKey
  readonly to: RecordKey
  readonly bins: StoredRecord['bins']
  readonly ttl: number | null
  /** Generation of the record since it was claimed. */
  readonly generation: number
  /** Later claims are larger: an older copy never takes the place of a newer one. */
  readonly claim: number
  /** The record that the copy takes the place of. */
  readonly present: StoredRecord | null
}

/**
 * Moves records to another namespace. Each is claimed and copied, the copy is read and compared, and only then the record is deleted, while
 * it still is what was copied. What moves along with a record goes before it: whoever adds a member meanwhile changes the record, which is
 * then read again. Whenever this is cut off, each record is there, or its copy is, or both are, and moving it again completes it. Returns
 * which of the keys were moved.
 */
export class RecordMover {
  readonly #mapped: MappedClass
  readonly #moves: Moves
  readonly #direction: Direction
  readonly #driver: Driver
  readonly #signal: AbortSignal | undefined
  readonly #belongs: MovingMembers['belongs']

  constructor(mapped: MappedClass, moves: Moves, belongs: MovingMembers['belongs'] = () => true) {
    this.#mapped = mapped
    this.#moves = moves
    this.#direction = moves.direction
    this.#driver = moves.driver
    this.#signal = moves.signal
    this.#belongs = belongs
  }

  async move(keys: readonly RecordKey[]): Promise<boolean[]> {
    this.#moves.before?.(this.#mapped, keys)
    const isMoved = keys.map(() => false)
    let left = keys.map((_, i) => i)
    for (let attempt = 1; left.length > 0; attempt++) {
      this.#signal?.throwIfAborted()
      const results = await this.#try(left.map((i) => keys[i]))
      left.forEach((i, n) => (isMoved[i] = results[n] === 'moved'))
      left = left.filter((_, n) => results[n] === 'overtaken')
      if (left.length > 0 && attempt === ATTEMPTS) throw this.#overtaken(keys[left[0]])
    }
    this.#moves.moved?.(
      this.#mapped,
      keys.filter((_, i) => isMoved[i]),
    )
    return isMoved
  }

  async #try(keys: readonly RecordKey[]): Promise<('moved' | 'missing' | 'overtaken')[]> {
    const found = await this.#read(keys)
    await this.#moveMembers(found.flatMap((each) => each?.record ?? []))
    const claimed = await this.#claim(found.flatMap((each) => each?.moving ?? []))
    await this.#copy(claimed)
    const outcomes = await this.#delete(claimed)
    const results = new Map(claimed.map((each, i) => [each.from.key, outcomes[i]]))
    return keys.map(({ key }, i) => (found[i]?.moving === undefined ? 'missing' : (results.get(key) ?? 'overtaken')))
  }

  /** Moves members that a move has left behind, where only one of the two is there. */
  async #moveMembers(records: readonly ReadRecord[]): Promise<void> {
    for (const { mapped, keys, belongs } of membersOf(this.#mapped, records, this.#moves.classes)) {
      const mover = new RecordMover(mapped, this.#moves, belongs)
      for (let i = 0; i < keys.length; i += STEP) await mover.move(keys.slice(i, i + STEP))
    }
  }

  async #read(keys: readonly RecordKey[]): Promise<(Found | undefined)[]> {
    const { from, to, isBack } = this.#direction
    const places = keys.map((key) => ({ from: { ...key, namespace: from }, to: { ...key, namespace: to } }))
    const { name } = this.#mapped.model
    const commands = places.flatMap((each) => [read(name, each.from), read(name, each.to)])
    const found = await this.#driver.read(commands, { signal: this.#signal })
    return places.map((each, i) => {
      const [record, present] = [found[2 * i], found[2 * i + 1]]
      const last = isBack && present !== null ? present : (record ?? present)
      if (last === null || DELETING_BIN in last.bins || !this.#belongs(each.from, last.bins)) return undefined
      if (record === null || (isBack && present !== null)) return { record: { key: each.to, bins: last.bins } }
      const before = Math.max(Number(record.bins[MOVED_BIN] ?? 0), Number(present?.bins[MOVED_BIN] ?? 0))
      const moving = { ...each, ...record, claim: Math.max(Date.now(), before + 1), present }
      return { moving, record: { key: each.from, bins: record.bins } }
    })
  }

  /** Marks records as being moved by this mover; those that were changed meanwhile are left out. */
  async #claim(found: readonly Moving[]): Promise<Moving[]> {
    const { name } = this.#mapped.model
    const outcomes = await this.#run(
      found.map(({ from, generation, claim }) =>
        write(name, from, [writeBin(MOVED_BIN, claim)], {
          exists: 'mustExist',
          ttl: 'keep',
          generation,
          watchGeneration: true,
        }),
      ),
    )
    return found.flatMap((each, i) => {
      const { state, generation } = outcomes[i]
      if (state !== 'written' || generation === undefined) return []
      return [{ ...each, generation, bins: { ...each.bins, [MOVED_BIN]: each.claim } }]
    })
  }

  /** Writes the copies, never over a newer one, and compares them with what was read. */
  async #copy(claimed: readonly Moving[]): Promise<void> {
    const commands = claimed.map((each) => {
      const command = copyOf(
        this.#mapped,
        { bins: each.bins, ttl: each.ttl, generation: 0 },
        each.to,
        each.present,
        this.#moves.classes,
      )
      if (this.#direction.isBack) return { ...command, exists: 'mustNotExist' as const }
      const newest = or(not(binExists(MOVED_BIN)), le(bin('int', MOVED_BIN), value(each.claim)))
      return { ...command, guards: [holds(newest)] }
    })
    await this.#run(commands)
    const { name } = this.#mapped.model
    const copies = await this.#driver.read(
      claimed.map(({ to }) => read(name, to)),
      { signal: this.#signal },
    )
    const wrong = claimed.find(({ bins, claim }, i) => {
      const copy = copies[i]
      return copy?.bins[MOVED_BIN] === claim && !isDeepStrictEqual({ ...bins }, { ...copy.bins })
    })
    if (wrong !== undefined) throw this.#overtaken(wrong.to)
  }

  /** A record that is gone was moved by another mover, or deleted: then its copy goes, too. */
  async #delete(claimed: readonly Moving[]): Promise<('moved' | 'missing' | 'overtaken')[]> {
    const { name, durableDelete } = this.#mapped.model
    const outcomes = await this.#run(
      claimed.map(({ from, generation, claim }) =>
        remove(name, from, { generation, guards: [binEquals(MOVED_BIN, claim)], durableDelete }),
      ),
    )
    const deleted = claimed.filter((_, i) => outcomes[i].reason === 'missing')
    await this.#run(
      deleted.map(({ to, claim }) => remove(name, to, { guards: [binEquals(MOVED_BIN, claim)], durableDelete })),
    )
    return outcomes.map(({ state, reason }) =>
      state === 'written' ? 'moved' : reason === 'missing' ? 'missing' : 'overtaken',
    )
  }

  async #run(commands: readonly (WriteCommand | DeleteCommand)[]): Promise<Outcome[]> {
    if (commands.length === 0) return []
    const outcomes = await this.#driver.run(commands, { signal: this.#signal })
    const failed = outcomes.filter(({ state, reason }) => state !== 'written' && !OVERTAKEN.includes(reason!))
    if (failed.length > 0) throw flushFailure({ outcomes, failed }, this.#signal)
    return outcomes
  }

  #overtaken(key: RecordKey): VersionConflictError {
    const { name: className } = this.#mapped.model
    return new VersionConflictError(`${className} ${showKey(key)} was changed by others while it was being moved.`, {
      className,
      key: key.key,
      fix: 'Nothing is lost. Move it again when nobody writes to it.',
    })
  }
}

const OVERTAKEN: readonly string[] = ['generation', 'guard', 'missing', 'exists']
