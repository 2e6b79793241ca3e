import { ARCHIVING_BIN, COMPANION_SHARDS_BIN, DELETING_BIN } from '../../model/index.js'
import { read, type ReadCommand } from '../../plan/command.js'
import type { Draft, Settle } from '../../plan/draft.js'
import type { Outcome, StoredRecord } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import { beingArchived } from '../contract/companion-errors.js'
import type { Reader } from '../contract/reader.js'
import type { CompanionCounts } from '../write/companion-counts.js'
import { held, keysAmong, kept, refusingArchived, type LinkBin } from '../write/link-bin.js'
import type { Change } from './growing-changes.js'
import type { GrowingCommands } from './growing-commands.js'
import type { GrowingScheme } from './growing-scheme.js'
import type { Growth } from './growth.js'
import type { Mover } from './mover.js'
import { IN_ROOT, isMoving, MOVING, ROOT, samePlacement, type Placement } from './placement.js'

/** Place where a change belongs, as the transaction has read it. */
interface PlaceInside {
  readonly home: RecordKey
  /** As the home says. */
  readonly placement: Placement
  /** A move that the owner says is under way, though this home has got all its members. */
  readonly isBehind?: boolean
}

/** A change whose home is looked for. */
type Wanted = Pick<Change, 'at' | 'kind' | 'needsMember' | 'members'>

/** Times that records are read which disagree with their owner. */
const TRIES = 8

/** The bin of homes that holds members, where those are counted. */
interface Counted {
  readonly counts: CompanionCounts
  readonly layout: LinkBin
  readonly bin: string
}

/** Plans changes of members inside a transaction: each record is written once, so its home is looked at before. */
export class GrowingInTransaction {
  readonly #commands: GrowingCommands
  readonly #scheme: GrowingScheme
  readonly #mover: Mover
  readonly #growth: Growth
  readonly #counted: Counted | undefined

  constructor(commands: GrowingCommands, scheme: GrowingScheme, mover: Mover, growth: Growth, counted?: Counted) {
    this.#commands = commands
    this.#scheme = scheme
    this.#mover = mover
    this.#growth = growth
    this.#counted = counted
  }

  async send(change: Change, draft: Draft, reader: Reader): Promise<void> {
    const { at, kind, stage, settle } = change
    const place = await this.find(change, reader)
    if (place === undefined) {
      // Its refusal refuses all that belongs together.
      const { model } = this.#commands
      if (kind === 'add') return draft.add(stage, held(model, at.owner), settle)
      // An owner that is not there may have gone to the archive, with this member.
      if (model.archive !== undefined && !draft.isDeleting(at.owner))
        return draft.add(stage, kept(model, at.owner), refusingArchived(settle))
      const nowhere = change.command(at.owner, IN_ROOT, true)
      return draft.beforeSending(
        () => void settle({ command: nowhere, state: 'notWritten', bins: {}, reason: 'missing' }),
      )
    }
    const { home, placement } = place
    await this.#count(change, home, draft, reader)
    const known = place.isBehind === true ? this.#scheme.of(at.owner) : placement
    const settled = Object.assign(
      (outcome: Outcome): ReturnType<Settle> => {
        if (outcome.state === 'written') this.#growth.written(kind, at.owner, known, outcome, draft)
        return settle(outcome)
      },
      settle.tolerates && { tolerates: settle.tolerates },
      { remedy: this.remedy(change, place, draft) },
    )
    draft.add(stage, change.command(home, placement, true), settled)
  }

  /** Counts what a change of a companion will change; the owner's own record counts by itself. */
  async #count({ at, kind, stage }: Change, home: RecordKey, draft: Draft, reader: Reader): Promise<void> {
    if (this.#counted === undefined || kind === 'change' || recordId(home) === recordId(at.owner)) return
    const { counts, layout, bin } = this.#counted
    const question = layout.among(bin, [at.member])
    const [record] = await reader.read([read(this.#commands.model.name, home, 'none', [question])])
    const isMember = keysAmong(record?.bins[bin]).length > 0
    if (isMember !== (kind === 'add')) await counts.addInside(at.owner, isMember ? -1 : 1, draft, stage, reader)
  }

  /** A record that would become too large is split before the transaction is tried again; one that it makes is not there to be split. */
  remedy({ at: { owner, isOwnerNew } }: Change, { placement }: PlaceInside, draft: Draft): Settle['remedy'] {
    if (isOwnerNew === true || !this.#growth.mayGrow(placement)) return undefined
    const id = `split ${this.#commands.property} ${recordId(owner)}`
    return ({ reason }) =>
      reason === 'tooLarge' && draft.once(id) ? (access) => this.#growth.split(owner, 'tooLarge', access) : undefined
  }

  /** Undefined where the owner is gone or being deleted, and where a member that is to be changed has no home. */
  async find(change: Wanted, reader: Reader): Promise<PlaceInside | undefined> {
    const { owner, member, isOwnerNew, isOwnerUpserted, isOwnerMade } = change.at
    if (isOwnerNew === true) return { home: owner, placement: IN_ROOT }
    for (let tries = 0; tries < TRIES; tries++) {
      const known = this.#scheme.of(owner)
      const home = this.#scheme.homeOf(owner, member, known.shards)
      const record = known.shards === ROOT ? null : await this.#read(home, reader)
      // A companion that settles it spares the owner, which others write to.
      if (known.move === undefined && isOpen(record, known)) return { home, placement: known }
      const [root] = await reader.read([this.#about(owner)])
      if (root?.bins[ARCHIVING_BIN] != null) throw beingArchived(this.#commands.model, owner.key)
      if (root === null && (isOwnerUpserted === true || isOwnerMade === true))
        return { home: owner, placement: IN_ROOT }
      if (root === null || (DELETING_BIN in root.bins && change.kind === 'add')) return undefined
      const now = this.#scheme.learn(owner, root.bins)
      const { move } = now
      if (move?.phase === 'prepare' && now.shards !== ROOT) await this.#mover.finish(owner, reader.direct)
      else if (isMoving(now) && change.needsMember)
        await this.#mover.pull(owner, change.members ?? [member], reader.direct)
      if (now.shards === ROOT) {
        if (known.shards === ROOT || move === undefined) return { home: owner, placement: now }
      } else if (samePlacement(now, known)) {
        if (isMoving(now) && Number(record?.bins[this.#scheme.bins.move]) === move!.id) return { home, placement: now }
        if (isOpen(record, now)) return { home, placement: { shards: now.shards }, isBehind: true }
        if (record === null && isMoving(now)) await this.#mover.mend(owner, reader.direct)
        else if (record === null && change.kind !== 'add') return undefined
        // Also opens one that is closed though no members move.
        else if (!isMoving(now)) await this.#growth.makeHome(owner, member, reader.direct)
      }
    }
    return undefined
  }

  #about(owner: RecordKey): ReadCommand {
    const { name, archive } = this.#commands.model
    const archiving = archive === undefined ? [] : [ARCHIVING_BIN]
    return read(name, owner, [...this.#scheme.names, DELETING_BIN, ...archiving])
  }

  async #read(key: RecordKey, reader: Reader): Promise<StoredRecord | null> {
    const bins = [COMPANION_SHARDS_BIN, this.#scheme.bins.move, DELETING_BIN]
    const [record] = await reader.read([read(this.#commands.model.name, key, bins)])
    return record
  }
}

const isOpen = (record: StoredRecord | null, { shards }: Placement): boolean =>
  record !== null && shards !== MOVING && record.bins[COMPANION_SHARDS_BIN] === shards && !(DELETING_BIN in record.bins)
