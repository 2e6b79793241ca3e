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
import { copyOf } from './copy-record.js'

/** Writers that come between are met so often. */
const ATTEMPTS = 8

/** Namespaces between which records are moved. */
export interface Direction {
  readonly from: string
  readonly to: string
  /** The way back never overwrites: where both are, the one outside of the archive is the record. */
  readonly isBack?: true
}

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
 * it still is what was copied. Whenever this is cut off, the record is there, or its copy is, or both are, and moving it again
 * completes it. Returns which of the keys were moved.
 */
export class RecordMover {
  readonly #mapped: MappedClass
  readonly #direction: Direction
  readonly #driver: Driver
  readonly #signal: AbortSignal | undefined

  constructor(mapped: MappedClass, direction: Direction, driver: Driver, signal?: AbortSignal) {
    this.#mapped = mapped
    this.#direction = direction
    this.#driver = driver
    this.#signal = signal
  }

  async move(keys: readonly RecordKey[]): Promise<boolean[]> {
    const isMoved = keys.map(() => false)
    let left = keys.map((_, i) => i)
    for (let attempt = 1; left.length > 0; attempt++) {
      this.#signal?.throwIfAborted()
      const results = await this.#try(left.map((i) => keys[i]))
      left.forEach((i, n) => (isMoved[i] = results[n] === 'moved'))
      left = left.filter((_, n) => results[n] === 'overtaken')
      if (left.length > 0 && attempt === ATTEMPTS) throw this.#overtaken(keys[left[0]])
    }
    return isMoved
  }

  async #try(keys: readonly RecordKey[]): Promise<('moved' | 'missing' | 'overtaken')[]> {
    const found = await this.#read(keys)
    const claimed = await this.#claim(found.filter((each) => each !== undefined))
    await this.#copy(claimed)
    const outcomes = await this.#delete(claimed)
    const results = new Map(claimed.map((each, i) => [each.from.key, outcomes[i]]))
    return keys.map(({ key }, i) => (found[i] === undefined ? 'missing' : (results.get(key) ?? 'overtaken')))
  }

  async #read(keys: readonly RecordKey[]): Promise<(Moving | undefined)[]> {
    const { from, to, isBack } = this.#direction
    const places = keys.map((key) => ({ from: { ...key, namespace: from }, to: { ...key, namespace: to } }))
    const { name } = this.#mapped.model
    const commands = places.flatMap((each) => [read(name, each.from), read(name, each.to)])
    const found = await this.#driver.read(commands, { signal: this.#signal })
    return places.map((each, i) => {
      const [record, present] = [found[2 * i], found[2 * i + 1]]
      if (record === null || DELETING_BIN in record.bins || (isBack && present !== null)) return undefined
      const before = Math.max(Number(record.bins[MOVED_BIN] ?? 0), Number(present?.bins[MOVED_BIN] ?? 0))
      return { ...each, ...record, claim: Math.max(Date.now(), before + 1), present }
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
      const command = copyOf(this.#mapped, { bins: each.bins, ttl: each.ttl, generation: 0 }, each.to, each.present)
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
    return new VersionConflictError(`${className} ${showKey(key)} is changed by others while it is moved.`, {
      className,
      key: key.key,
      fix: 'Nothing is lost. Move it again when it is at rest.',
    })
  }
}

const OVERTAKEN: readonly string[] = ['generation', 'guard', 'missing', 'exists']
