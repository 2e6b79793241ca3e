import { EntityGoneError } from '../../errors/index.js'
import { describeKey } from '../../keys/index.js'
import { ARCHIVING_BIN, DELETING_BIN, deletedBinOf, type EntityModel } from '../../model/index.js'
import { read, type Bins } from '../../plan/command.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { checkFit } from './check-fit.js'
import { beingArchived, companionRefused } from '../contract/companion-errors.js'
import type { SplitAccess, SplitDone } from '../../plan/split-access.js'
import type { GrowingCommands } from './growing-commands.js'
import type { GrowingScheme } from './growing-scheme.js'
import type { MemberMoves } from './member-moves.js'
import type { MoveAtOnce } from './move-at-once.js'
import { MoveHomes } from './move-homes.js'
import { pauseBefore } from './pause-before.js'
import { succeeded } from './succeeded.js'
import { companionsIn, newId, ROOT, type Move, type Placement, type Shards, type SplitReason } from './placement.js'

/** Times that a move is looked at anew: each time somebody else has taken a step, or the move is one step further. */
const STEPS = 50

/** Times that members find no home that takes them. */
const MISSES = 10

/**
 * Moves members of a collection between records, step by step: what the owner's record says decides the next step, so that anybody can
 * go on with what another process has begun, and two may do it at once.
 */
export class Mover {
  readonly #model: EntityModel
  readonly #property: string
  readonly #commands: GrowingCommands
  readonly #scheme: GrowingScheme
  readonly #moves: MemberMoves
  readonly #atOnce: MoveAtOnce
  readonly #deletedBin: string | undefined
  /** Owners whose members this process is moving. */
  readonly #running = new Map<string, Promise<void>>()

  constructor(commands: GrowingCommands, scheme: GrowingScheme, moves: MemberMoves, atOnce: MoveAtOnce) {
    this.#model = commands.model
    this.#property = commands.property
    this.#commands = commands
    this.#scheme = scheme
    this.#moves = moves
    this.#atOnce = atOnce
    this.#deletedBin = deletedBinOf(commands.model)
  }

  /** Moves all members into so many shards, after what is under way. Others may move them again at once: that is no reason to go on. */
  async move(owner: RecordKey, to: Shards, reason: SplitReason, access: SplitAccess): Promise<void> {
    const began = performance.now()
    let done: (() => void) | undefined
    let own: Move['id'] | undefined
    let lost = 0
    for (let step = 0; step < STEPS; step++) {
      const root = await this.#read(owner, access)
      const { shards, move } = this.#scheme.learn(owner, root)
      if (done !== undefined) return done()
      if (own !== undefined && move?.id !== own) return
      if (move !== undefined) await this.finish(owner, access)
      else if (shards === to) return
      else if (this.#deletedBin !== undefined && this.#deletedBin in root) throw this.#gone(owner)
      else if (ARCHIVING_BIN in root) throw beingArchived(this.#model, owner.key)
      else {
        await checkFit(owner, shards, to, { name: this.#property, model: this.#model }, this.#scheme, access)
        const begun: Move = { id: newId(), from: shards, to, phase: 'prepare', reason }
        const members = await this.#atOnce.run(owner, shards, to, access)
        if (members !== undefined) {
          done = () => this.#announce(owner, begun, 'transaction', members, performance.now() - began, access)
          continue
        }
        const [{ state }] = succeeded(await access.run([this.#commands.begin(owner, begun)]), ['guard', 'missing'])
        if (state === 'written') own = begun.id
        else await pauseBefore(++lost)
      }
    }
    throw companionRefused(this.#model, owner.key, this.#property)
  }

  /** Goes on with a move that has begun, whoever began it; one at a time in this process. */
  async finish(owner: RecordKey, access: SplitAccess): Promise<void> {
    const id = recordId(owner)
    let running = this.#running.get(id)
    if (running === undefined) {
      running = this.#finish(owner, access).finally(() => this.#running.delete(id))
      this.#running.set(id, running)
    }
    await running
  }

  /** True while this process moves members of the owner. */
  isAtWork(owner: RecordKey): boolean {
    return this.#running.has(recordId(owner))
  }

  /** Makes the new homes ready, where that has begun: before, writers that know of the move must wait. */
  async prepare(owner: RecordKey, access: SplitAccess): Promise<void> {
    const { move } = await this.#look(owner, access)
    if (move?.phase === 'prepare') await this.#homes(owner, move, access).prepare()
  }

  /** Makes new homes that are missing. */
  async mend(owner: RecordKey, access: SplitAccess): Promise<void> {
    const { move } = await this.#look(owner, access)
    if (move?.phase === 'move') await this.#homes(owner, move, access).mend()
  }

  /** Brings members to their new homes before somebody changes them there. */
  async pull(owner: RecordKey, members: readonly UserKey[], access: SplitAccess): Promise<void> {
    const { move } = await this.#look(owner, access)
    if (move?.phase === 'move') await this.#moves.pull(owner, members, move, access)
  }

  async #finish(owner: RecordKey, access: SplitAccess): Promise<void> {
    const began = performance.now()
    let members = 0
    let misses = 0
    for (let step = 0; step < STEPS && misses < MISSES; step++) {
      const { move } = await this.#look(owner, access)
      if (move === undefined) return
      if (move.phase === 'prepare') await this.#homes(owner, move, access).prepare()
      else {
        const { moved, left } = await this.#moves.all(owner, move, access)
        members += moved
        if (left > 0) {
          await pauseBefore(++misses)
          await this.#homes(owner, move, access).mend()
        } else if (moved === 0 && (await this.#end(owner, move, access)))
          this.#announce(owner, move, 'steps', members, performance.now() - began, access)
      }
    }
    throw companionRefused(this.#model, owner.key, this.#property)
  }

  #homes(owner: RecordKey, move: Move, access: SplitAccess): MoveHomes {
    return new MoveHomes(owner, move, this.#commands, this.#scheme, access, () => this.#look(owner, access))
  }

  /** All members are in their new homes: these open, the others go, and the owner forgets the move. */
  async #end(owner: RecordKey, move: Move, access: SplitAccess): Promise<boolean> {
    const kept = this.#companions(owner, move.to)
    const ids = new Set(kept.map(recordId))
    const emptied = this.#companions(owner, move.from).filter((home) => !ids.has(recordId(home)))
    const commands = [
      ...kept.map((home) => this.#commands.leave(home, move)),
      ...emptied.map((home) => this.#commands.dropEmptied(home, move)),
    ]
    succeeded(await access.run(commands), ['guard', 'missing'])
    const [ended] = succeeded(await access.run([this.#commands.end(owner, move)]), ['guard', 'missing'])
    return ended.state === 'written'
  }

  #companions(owner: RecordKey, shards: Shards): readonly RecordKey[] {
    return shards === ROOT ? [] : this.#scheme.homes(owner, shards)
  }

  async #look(owner: RecordKey, access: SplitAccess): Promise<Placement> {
    return this.#scheme.learn(owner, await this.#read(owner, access))
  }

  /** Reads where the owner keeps its members, and whether it was deleted softly or is being archived; throws where it is gone. */
  async #read(owner: RecordKey, access: SplitAccess): Promise<Bins> {
    const deleted = this.#deletedBin === undefined ? [] : [this.#deletedBin]
    const archiving = this.#model.archive === undefined ? [] : [ARCHIVING_BIN]
    const bins = [...this.#scheme.names, DELETING_BIN, ...deleted, ...archiving]
    const [root] = await access.read([read(this.#model.name, owner, bins)])
    if (root === null || DELETING_BIN in root.bins) throw this.#gone(owner)
    return root.bins
  }

  #gone({ key }: RecordKey): EntityGoneError {
    const { name } = this.#model
    const about = { className: name, property: this.#property, key }
    return new EntityGoneError(`${name} ${describeKey(key)} is gone, so its ${this.#property} cannot move.`, about)
  }

  #announce(
    owner: RecordKey,
    move: Move,
    how: SplitDone['how'],
    members: number,
    ms: number,
    access: SplitAccess,
  ): void {
    const [from, to] = [move.from, move.to].map(companionsIn)
    const about = { entity: this.#model.name, property: this.#property, owner }
    access.announce({ ...about, from, to, reason: move.reason, members, how, ms })
  }
}
