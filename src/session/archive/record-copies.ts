import { isDeepStrictEqual } from 'node:util'
import { MOVED_BIN } from '../../model/index.js'
import { binEquals, read, remove } from '../../plan/command.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { copyOf } from './copy-record.js'
import type { MoveAccess } from './move-access.js'
import type { CompanionMover } from './move-companions.js'
import { notNewer } from './move-guards.js'
import type { Direction, Moving, Result } from './moving-record.js'

/** Copies claimed records, and deletes those whose copy is there. */
export class RecordCopies {
  readonly #mapped: MappedClass
  readonly #classes: MappedClasses
  readonly #access: MoveAccess
  readonly #direction: Direction
  readonly #companions: CompanionMover | undefined

  constructor(
    mapped: MappedClass,
    classes: MappedClasses,
    access: MoveAccess,
    direction: Direction,
    companions: CompanionMover | undefined,
  ) {
    this.#mapped = mapped
    this.#classes = classes
    this.#access = access
    this.#direction = direction
    this.#companions = companions
  }

  /** Writes the copies, never over a newer one, and compares them with what was read. Returns the records whose copy is this mover's. */
  async write(claimed: readonly Moving[]): Promise<readonly Moving[]> {
    const { isBack } = this.#direction
    const commands = claimed.map(({ bins, ttl, to, present, claim }) => {
      const command = copyOf(this.#mapped, { bins, ttl, generation: 0 }, to, present, this.#classes)
      return isBack ? { ...command, exists: 'mustNotExist' as const } : { ...command, guards: [notNewer(claim)] }
    })
    await this.#access.run(commands)
    const { name } = this.#mapped.model
    const found = await this.#access.read(
      claimed.flatMap(({ from, to }) => [read(name, to), ...(isBack ? [read(name, from, [MOVED_BIN])] : [])]),
    )
    const copies = found.filter((_, i) => !isBack || i % 2 === 0)
    const isOwn = claimed.map(({ claim }, i) => copies[i]?.bins[MOVED_BIN] === claim)
    const wrong = claimed.find(({ bins }, i) => isOwn[i] && !isDeepStrictEqual({ ...bins }, { ...copies[i]!.bins }))
    if (wrong !== undefined) throw this.#access.overtaken(wrong.to)
    if (!isBack) return claimed.filter((_, i) => isOwn[i])
    // A copy that came late is older than a record which was brought back, changed and archived meanwhile.
    const isLate = claimed.map(({ claim }, i) => found[2 * i + 1]?.bins[MOVED_BIN] !== claim)
    await this.#discard(claimed.filter((_, i) => isOwn[i] && isLate[i]))
    return claimed.filter((_, i) => isOwn[i] && !isLate[i])
  }

  /** A record that is gone was deleted: then its copy goes, too; or moved by another mover, which has claimed the copy. */
  async delete(claimed: readonly Moving[]): Promise<Result[]> {
    const { name, durableDelete } = this.#mapped.model
    const outcomes = await this.#access.run(
      claimed.map(({ from, generation, claim }) =>
        remove(name, from, { generation, guards: [binEquals(MOVED_BIN, claim)], durableDelete }),
      ),
    )
    const deleted = claimed.filter((_, i) => outcomes[i].reason === 'missing')
    const kept = new Set(await this.#discard(deleted))
    return outcomes.map(({ state, reason }, i) => {
      if (state === 'written') return 'moved'
      return reason === 'missing' && !kept.has(claimed[i]) ? 'missing' : 'overtaken'
    })
  }

  /** Deletes copies with their companions. Returns those that another mover has claimed, which stay. */
  async #discard(copied: readonly Moving[]): Promise<readonly Moving[]> {
    const { name, durableDelete } = this.#mapped.model
    const outcomes = await this.#access.run(
      copied.map(({ to, claim }) => remove(name, to, { guards: [binEquals(MOVED_BIN, claim)], durableDelete })),
    )
    await this.#companions?.removeCopies(copied.filter((_, i) => outcomes[i].reason !== 'guard'))
    return copied.filter((_, i) => outcomes[i].reason === 'guard')
  }
}
