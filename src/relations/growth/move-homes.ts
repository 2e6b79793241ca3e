import { EntityGoneError } from '../../errors/index.js'
import { COMPANION_SHARDS_BIN } from '../../model/index.js'
import { read, type DeleteCommand } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { SplitAccess } from '../../plan/split-access.js'
import { companionRefused } from '../contract/companion-errors.js'
import type { GrowingCommands } from './growing-commands.js'
import type { GrowingScheme } from './growing-scheme.js'
import { ROOT, type Move, type Placement, type Shards } from './placement.js'
import { succeeded } from './succeeded.js'

/** Times that a companion is tried: somebody else prepares it, or one that was left behind is deleted first. */
const TRIES = 10

/** A companion that takes part in a move. */
interface Part {
  readonly home: RecordKey
  readonly shard: number | undefined
  isThere: boolean
}

/** Companions of one move: makes them, closes those that are there to writers that do not know of it, and mends what is missing. */
export class MoveHomes {
  readonly #owner: RecordKey
  readonly #move: Move
  readonly #commands: GrowingCommands
  readonly #scheme: GrowingScheme
  readonly #access: SplitAccess
  /** Reads where the owner keeps its members now; throws where the owner is gone. */
  readonly #look: () => Promise<Placement>
  readonly #made: RecordKey[] = []

  constructor(
    owner: RecordKey,
    move: Move,
    commands: GrowingCommands,
    scheme: GrowingScheme,
    access: SplitAccess,
    look: () => Promise<Placement>,
  ) {
    this.#owner = owner
    this.#move = move
    this.#commands = commands
    this.#scheme = scheme
    this.#access = access
    this.#look = look
  }

  /** Makes and closes all of them. Then the owner sends writers to the new homes. */
  async prepare(): Promise<void> {
    try {
      await this.#joinAll()
      succeeded(await this.#access.run([this.#commands.open(this.#owner, this.#move)]), ['guard', 'missing'])
      await this.#look()
    } catch (error) {
      // Homes of a move that was opened belong to whoever deletes the owner: members may be in them.
      if (error instanceof EntityGoneError && !(await this.#isOpened())) await this.#dropMade()
      throw error
    }
  }

  /** Makes homes anew that are missing though members move to them: a delete of the owner that was called off may have taken them. */
  async mend(): Promise<void> {
    const parts = this.#partsOf(this.#move.to, false)
    const records = await this.#read(parts)
    if (!(await this.#isIn('move'))) return
    const missing = parts.filter((_, i) => records[i] === null)
    if (missing.length === 0) return
    await this.#join(missing)
    try {
      await this.#look()
    } catch (error) {
      if (error instanceof EntityGoneError) await this.#dropMade()
      throw error
    }
  }

  async #joinAll(): Promise<void> {
    const { from, to } = this.#move
    const parts = [...this.#partsOf(to, false), ...this.#partsOf(from, true)]
    let open = [...new Map(parts.map((part) => [recordId(part.home), part])).values()]
    for (let tries = 0; open.length > 0; tries++) {
      if (tries === TRIES) throw companionRefused(this.#commands.model, this.#owner.key, this.#commands.property)
      open = await this.#leftToDo(await this.#join(open))
    }
  }

  /** Sends the commands; returns the parts that were refused. */
  async #join(parts: readonly Part[]): Promise<Part[]> {
    const sent = parts.map(({ home, shard, isThere }) =>
      isThere
        ? this.#commands.join(home, this.#move)
        : this.#commands.create(this.#owner, home, shard, this.#move.to, this.#move),
    )
    const outcomes = succeeded(await this.#access.run(sent), ['guard', 'missing', 'exists'])
    const isWritten = parts.map((_, i) => outcomes[i].state === 'written')
    this.#made.push(...parts.filter(({ isThere }, i) => !isThere && isWritten[i]).map(({ home }) => home))
    return parts.filter((_, i) => !isWritten[i])
  }

  #partsOf(shards: Shards, isThere: boolean): Part[] {
    if (shards === ROOT) return []
    const homes = this.#scheme.homes(this.#owner, shards)
    return homes.map((home, i) => ({ home, shard: shards === 0 ? undefined : i, isThere }))
  }

  /** Parts that have not joined; a record in the way that belongs to no move of this owner is deleted. */
  async #leftToDo(open: readonly Part[]): Promise<Part[]> {
    if (open.length === 0) return []
    const records = await this.#read(open)
    // Asked after the records were read: while it is being prepared, nothing that they show can be what it has brought about.
    if (!(await this.#isIn('prepare'))) return []
    const { id, from } = this.#move
    const left: Part[] = []
    const strays: DeleteCommand[] = []
    open.forEach((part, i) => {
      const record = records[i]
      if (record !== null && Number(record.bins[this.#scheme.bins.move]) === id) return
      left.push(part)
      part.isThere = record !== null && record.bins[COMPANION_SHARDS_BIN] === from
      if (record !== null && !part.isThere) strays.push(this.#commands.dropStray(part.home, record.generation))
    })
    if (strays.length > 0) succeeded(await this.#access.run(strays), ['guard', 'missing', 'generation'])
    return left
  }

  #read(parts: readonly Part[]): Promise<(StoredRecord | null)[]> {
    const bins = [this.#scheme.bins.move, COMPANION_SHARDS_BIN]
    return this.#access.read(parts.map(({ home }) => read(this.#commands.model.name, home, bins)))
  }

  async #isIn(phase: Move['phase']): Promise<boolean> {
    const { move } = await this.#look()
    return move?.id === this.#move.id && move.phase === phase
  }

  /** True where an owner that is being deleted says that members move already. */
  async #isOpened(): Promise<boolean> {
    const [root] = await this.#access.read([read(this.#commands.model.name, this.#owner, this.#scheme.names)])
    const { move } = this.#scheme.learn(this.#owner, root?.bins ?? {})
    return move?.id === this.#move.id && move.phase === 'move'
  }

  /** Deletes companions that were made here, for an owner that is gone. */
  async #dropMade(): Promise<void> {
    const drops = this.#made.map((home) => this.#commands.dropMade(home, this.#move))
    if (drops.length > 0) succeeded(await this.#access.run(drops), ['guard', 'missing'])
  }
}
