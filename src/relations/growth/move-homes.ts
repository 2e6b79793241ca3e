import { EntityGoneError } from '../../errors/index.js'
import { COMPANION_CLOSED, COMPANION_JOINED_BIN, COMPANION_SHARDS_BIN } from '../../model/index.js'
import { read, type DeleteCommand } from '../../plan/command.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { SplitAccess } from '../../plan/split-access.js'
import { companionRefused } from '../contract/companion-errors.js'
import type { GrowingCommands } from './growing-commands.js'
import type { GrowingScheme } from './growing-scheme.js'
import { MOVING, newId, ROOT, type Joined, type Move, type Placement, type Shards } from './placement.js'
import { succeeded } from './succeeded.js'

/** Times that a companion is tried: somebody else prepares it, or one that was left behind is deleted first. */
const TRIES = 10

/** A companion that is to take part in a move. */
interface Part {
  readonly home: RecordKey
  readonly shard: number | undefined
  /** Holds members before the move. */
  readonly isSource: boolean
  state: 'missing' | 'unknown' | 'joined' | { readonly joined: Joined }
}

/** A companion that was made here, and the number that it was given. */
interface Made {
  readonly home: RecordKey
  readonly joined: number
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
  readonly #made: Made[] = []

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
    const { from, to } = this.#move
    const parts = [...this.#partsOf(to, 'missing'), ...this.#partsOf(from, 'unknown')]
    try {
      await this.#joinAll([...new Map(parts.map((part) => [recordId(part.home), part])).values()], 'prepare')
      succeeded(await this.#access.run([this.#commands.open(this.#owner, this.#move)]), ['guard', 'missing'])
      await this.#look()
    } catch (error) {
      // Homes of a move that was opened belong to whoever deletes the owner: members may be in them.
      if (error instanceof EntityGoneError) await this.#dropMade((await this.#isOpened()) ? undefined : this.#move)
      throw error
    }
  }

  /** Makes homes anew that are missing though members move to them: a delete of the owner that was called off may have taken them. */
  async mend(): Promise<void> {
    try {
      await this.#joinAll(this.#partsOf(this.#move.to, 'unknown'), 'move')
      await this.#look()
    } catch (error) {
      if (error instanceof EntityGoneError) await this.#dropMade(this.#move)
      throw error
    }
  }

  /**
   * Makes companions that nobody can write to, and has them join once the owner has said that the move is in its phase still: so a command that
   * arrives after the move is over finds a companion that has joined, or one that nobody uses.
   */
  async #joinAll(parts: readonly Part[], phase: Move['phase']): Promise<void> {
    let open = parts
    for (let tries = 0; open.length > 0; tries++) {
      if (tries === TRIES) throw companionRefused(this.#commands.model, this.#owner.key, this.#commands.property)
      await this.#make(open.filter(({ state }) => state === 'missing'))
      const strays = await this.#lookAt(open.filter(({ state }) => state === 'unknown'))
      // Asked after the records were read: as long as it is in this phase, nothing that they show can be what it has brought about.
      if (!(await this.#isIn(phase))) return this.#dropMade()
      if (phase === 'prepare' && strays.length > 0)
        succeeded(await this.#access.run(strays), ['guard', 'missing', 'generation'])
      await this.#join(open)
      open = open.filter(({ state }) => state !== 'joined')
    }
  }

  async #make(parts: readonly Part[]): Promise<void> {
    if (parts.length === 0) return
    const made = parts.map(({ home }) => ({ home, joined: newId() }))
    const creates = parts.map(({ home, shard }, i) =>
      this.#commands.create(this.#owner, home, shard, MOVING, made[i].joined),
    )
    const outcomes = succeeded(await this.#access.run(creates), ['exists'])
    parts.forEach((part, i) => {
      const isMade = outcomes[i].state === 'written'
      part.state = isMade ? { joined: made[i].joined } : 'unknown'
      if (isMade) this.#made.push(made[i])
    })
  }

  /** Says of each part how far it is; returns deletes of records in the way that belong to no move of this owner. */
  async #lookAt(parts: readonly Part[]): Promise<DeleteCommand[]> {
    if (parts.length === 0) return []
    const { id, from, to, phase } = this.#move
    const { move: moveBin } = this.#scheme.bins
    const bins = [moveBin, COMPANION_SHARDS_BIN, COMPANION_JOINED_BIN]
    const records = await this.#access.read(parts.map(({ home }) => read(this.#commands.model.name, home, bins)))
    const strays: DeleteCommand[] = []
    parts.forEach((part, i) => {
      const record = records[i]
      part.state = 'missing'
      if (record === null) return
      const {
        [COMPANION_SHARDS_BIN]: shards,
        [moveBin]: move = null,
        [COMPANION_JOINED_BIN]: joined = null,
      } = record.bins
      const isComplete = phase === 'move' && shards === to
      // A move to the archive has closed it, and it holds members.
      if (part.isSource && shards === COMPANION_CLOSED) return void (part.state = 'unknown')
      // A record that holds members is never in the way, even if it was closed for a move that is over.
      const isOurs = shards === MOVING ? part.isSource || move === null : part.isSource && shards === from
      if (isComplete || Number(move ?? NaN) === id) part.state = 'joined'
      else if (isOurs) part.state = { joined: joined as Joined }
      else strays.push(this.#commands.dropStray(part.home, record.generation))
    })
    return strays
  }

  async #join(parts: readonly Part[]): Promise<void> {
    const ready = parts.filter(({ state }) => typeof state === 'object')
    if (ready.length === 0) return
    const joins = ready.map(({ home, state }) =>
      this.#commands.join(home, this.#move, (state as { joined: Joined }).joined),
    )
    const outcomes = succeeded(await this.#access.run(joins), ['guard', 'missing'])
    ready.forEach((part, i) => (part.state = outcomes[i].state === 'written' ? 'joined' : 'unknown'))
  }

  #partsOf(shards: Shards, state: 'missing' | 'unknown'): Part[] {
    if (shards === ROOT) return []
    const homes = this.#scheme.homes(this.#owner, shards)
    const isSource = shards === this.#move.from
    return homes.map((home, i) => ({ home, shard: shards === 0 ? undefined : i, isSource, state }))
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

  /** Deletes companions that were made here and have not joined; with a move, also those that have joined it. */
  async #dropMade(move?: Move): Promise<void> {
    const drops = this.#made.map(({ home, joined }) => this.#commands.dropMade(home, joined, move))
    if (drops.length > 0) succeeded(await this.#access.run(drops), ['guard', 'missing'])
  }
}
