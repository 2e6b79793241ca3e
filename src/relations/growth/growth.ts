import { COMPANION_JOINED_BIN, COMPANION_SHARDS_BIN, type CompanionsModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { Draft } from '../../plan/draft.js'
import type { Outcome } from '../../plan/outcome.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { SplitAccess } from '../../plan/split-access.js'
import type { GrowingCommands } from './growing-commands.js'
import type { GrowingScheme } from './growing-scheme.js'
import type { Mover } from './mover.js'
import {
  companionsIn,
  MOVING,
  newId,
  ROOT,
  samePlacement,
  type ChangeKind,
  type Joined,
  type Placement,
  type SplitReason,
} from './placement.js'
import { succeeded } from './succeeded.js'
import type { Thresholds } from './thresholds.js'

/** Decides when a collection is split, and sees to it that a split that has begun is finished. */
export class Growth {
  readonly #commands: GrowingCommands
  readonly #scheme: GrowingScheme
  readonly #mover: Mover
  readonly #thresholds: Thresholds
  /** Number of shards that the class asks for. */
  readonly #shards: number

  constructor(
    commands: GrowingCommands,
    scheme: GrowingScheme,
    mover: Mover,
    thresholds: Thresholds,
    { shards }: CompanionsModel,
  ) {
    this.#commands = commands
    this.#scheme = scheme
    this.#mover = mover
    this.#thresholds = thresholds
    this.#shards = shards!
  }

  /** Looks at a write that has been answered: its record may have become too large, or members may be on the move. */
  written(kind: ChangeKind, owner: RecordKey, known: Placement, outcome: Outcome, draft: Draft): void {
    if (known.move !== undefined) return this.#help(owner, draft)
    const reason = kind === 'add' ? this.#thresholds.reached(owner, outcome) : undefined
    if (reason === undefined || !this.mayGrow(known)) return
    if (draft.once(`split ${this.#commands.property} ${recordId(owner)}`))
      draft.followUp((access) => this.split(owner, reason, access))
  }

  /** True where the class asks for more records than hold the members. */
  mayGrow({ shards, move }: Placement): boolean {
    return move?.phase !== 'move' && shards < this.#shards
  }

  /** Splits the members of an owner, as the class says. What goes wrong does not concern those who only wrote: the next writer goes on. */
  async split(owner: RecordKey, reason: SplitReason, access: SplitAccess): Promise<void> {
    const began = performance.now()
    const { shards, move } = this.#scheme.of(owner)
    try {
      await this.#mover.move(owner, this.#shards, reason, access)
    } catch (error) {
      const { model, property } = this.#commands
      const [from, to] = [move?.from ?? shards, this.#shards].map(companionsIn)
      const ms = performance.now() - began
      access.announce({ entity: model.name, property, owner, from, to, reason, members: 0, how: 'steps', ms, error })
    }
  }

  /** Makes the companion of a member, as long as its owner is there, or opens one that was closed for a move that is over. */
  async makeHome(owner: RecordKey, member: UserKey, access: SplitAccess): Promise<void> {
    const known = this.#scheme.of(owner)
    if (known.shards === ROOT || known.move !== undefined) return
    const home = this.#scheme.homeOf(owner, member, known.shards)
    const bins = [COMPANION_SHARDS_BIN, COMPANION_JOINED_BIN]
    const [found] = await access.read([read(this.#commands.model.name, home, bins)])
    if (found !== null && found.bins[COMPANION_SHARDS_BIN] !== MOVING) return
    const made = found === null ? newId() : undefined
    if (made !== undefined) {
      const shard = known.shards === 0 ? undefined : this.#scheme.indexOf(member, known.shards)
      const [{ state }] = await access.run([this.#commands.create(owner, home, shard, MOVING, made)])
      if (state !== 'written') return
    }
    const joined = made ?? (found!.bins[COMPANION_JOINED_BIN] as Joined | undefined) ?? null
    // Asked after the companion was seen: a move that it had joined by then, and that the owner does not know now, is over.
    const [asked] = await access.run([this.#commands.ask(owner, made === undefined ? 'change' : 'add')])
    const isStill =
      asked.state === 'written' && samePlacement(this.#scheme.learn(owner, this.#commands.told(asked)), known)
    if (isStill) succeeded(await access.run([this.#commands.reopen(home, known.shards, joined)]), ['guard', 'missing'])
    // Moved or deleted meanwhile: nobody would find the new companion.
    else if (
      made !== undefined &&
      (asked.state === 'written' || asked.reason === 'missing' || asked.reason === 'guard')
    )
      succeeded(await access.run([this.#commands.dropMade(home, made)]), ['guard', 'missing'])
  }

  /** Goes on with a move that somebody else may have left, unless this process is at it. */
  #help(owner: RecordKey, draft: Draft): void {
    if (this.#mover.isAtWork(owner) || !draft.once(`help ${this.#commands.property} ${recordId(owner)}`)) return
    draft.followUp((access) => this.#mover.finish(owner, access).catch(() => undefined))
  }
}
