import type { EntityModel, RelationModel } from '../../model/index.js'
import { goneUnless, type Bins, type WriteCommand } from '../../plan/command.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import type { WriteOperation } from '../../plan/operation.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { SplitAccess } from '../../plan/split-access.js'
import type { Value } from '../../plan/value.js'
import type { GrowingMembers } from '../contract/growing-members.js'
import { isCreation } from '../contract/member.js'
import type { MemberStore, StoredMember } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import { endedOf } from '../write/ended-bin.js'
import { rerouted } from '../write/explain-reads.js'
import { linkWrite, mapBin, type LinkBin } from '../write/link-bin.js'
import { StoreApart } from '../write/store-apart.js'
import type { Change } from './growing-changes.js'
import type { GrowingCommands } from './growing-commands.js'
import type { GrowingReads } from './growing-reads.js'
import type { GrowingScheme } from './growing-scheme.js'
import { endedParts, growthPartsOf, type GrowthParts } from './growth-parts.js'
import { isMoving, ROOT, type Placement, type Shards } from './placement.js'
import { StoredLinks } from './stored-links.js'

/** Keeps members in their owner's record until that becomes too large or too busy, then in companions, and moves them while others go on. */
export class GrowingStore extends StoreApart implements GrowingMembers {
  readonly moveBin: string
  readonly ended: string | undefined
  readonly endedLinks: MemberStore | undefined
  protected override readonly mayBeInOwner = true
  readonly #parts: GrowthParts

  constructor(model: EntityModel, relation: RelationModel, target: EntityModel, layout: LinkBin, parts: GrowthParts) {
    super(model, relation, target, layout)
    this.#parts = parts
    this.moveBin = parts.scheme.bins.move
    this.ended = layout.ended?.name
    if (layout.ended !== undefined) {
      const ended = endedParts(parts, relation, target, new StoredLinks(this.bin, layout, target))
      this.endedLinks = new GrowingStore(model, endedOf(relation), target, mapBin, ended)
    }
  }

  static of(
    model: EntityModel,
    relation: RelationModel,
    target: EntityModel,
    layout: LinkBin,
    recode?: (carried: Value) => Value,
  ): GrowingStore {
    const parts = growthPartsOf(model, relation, target, layout, recode)
    return new GrowingStore(model, relation, target, layout, parts)
  }

  get growing(): GrowingMembers {
    return this
  }

  protected get scheme(): GrowingScheme {
    return this.#parts.scheme
  }

  protected get commands(): GrowingCommands {
    return this.#parts.commands
  }

  protected get reads(): GrowingReads {
    return this.#parts.reads
  }

  homeOf(owner: RecordKey, member: UserKey): RecordKey {
    return this.scheme.homeOf(owner, member, this.#placement(owner).shards)
  }

  isUnsettled(owner: RecordKey): boolean {
    return this.#placement(owner).move !== undefined
  }

  settled(owner: RecordKey, stored: Bins, companion: Bins): Bins {
    return this.scheme.settled(owner, stored, companion)
  }

  async finish(owner: RecordKey, access: SplitAccess): Promise<void> {
    await this.#parts.mover.finish(owner, access)
  }

  async makeHome(owner: RecordKey, member: UserKey, access: SplitAccess): Promise<void> {
    await this.#parts.growth.makeHome(owner, member, access)
  }

  async reshard(owner: RecordKey, shards: Shards, access: SplitAccess): Promise<void> {
    await this.#parts.mover.move(owner, shards, 'call', access)
  }

  create(owner: Tracked, draft: Draft): void {
    const exists = isCreation(owner) ? 'mustNotExist' : 'upsert'
    const create = linkWrite(this.model, owner.key, [this.layout.create(this.bin)], exists)
    draft.add('write', create, ({ state }) => state === 'written')
  }

  add(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader?: Reader): void | Promise<void> {
    // Attributes of a link that is there already stay, where none are given.
    const keepsAttributes = this.layout.attributesOf !== undefined && at.attributes === undefined
    const needsMember = keepsAttributes || this.#needsMember
    const conditions = this.commands.conditionsOf(at.member)
    const command: Change['command'] = (home, placement, isInside) => {
      const put = this.commands.put(at, home, placement, isInside)
      return conditions.length === 0 ? put : { ...put, guards: [...put.guards, ...conditions.map(goneUnless)] }
    }
    return this.#send({ kind: 'add', at, stage, settle, command, needsMember, conditions }, draft, reader)
  }

  remove(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader?: Reader): void | Promise<void> {
    const command: Change['command'] = (home, placement, isInside) =>
      this.commands.take([at.member], home, placement, isInside, at.endedAt)
    return this.#send({ kind: 'remove', at, stage, settle, command, needsMember: this.#needsMember }, draft, reader)
  }

  /** True where whatever is stored of a member counts, while members move: its owner counts it, or it may be an ended link. */
  get #needsMember(): boolean {
    return this.#parts.counts !== undefined || this.#parts.keepsEnded
  }

  change(
    at: StoredMember,
    operations: readonly WriteOperation[],
    draft: Draft,
    stage: StageName,
    settle: Settle,
    reader?: Reader,
  ): void | Promise<void> {
    const command: Change['command'] = (home, placement, isInside) =>
      this.commands.change(operations, home, placement, isInside)
    return this.#send({ kind: 'change', at, stage, settle, command, needsMember: true }, draft, reader)
  }

  #send(sent: Change, draft: Draft, reader?: Reader): void | Promise<void> {
    const { changes, inside, keepsEnded } = this.#parts
    const change = keepsEnded ? { ...sent, mustBring: true } : sent
    const { owner, member } = change.at
    draft.tie(this.homeOf(owner, member), owner)
    if (draft.isInside) return inside.send(change, draft, reader!)
    const isInOwner = this.#placement(owner).shards === ROOT
    // The owner's own record counts by itself what changes in it.
    if (change.kind !== 'change' && !isInOwner)
      this.#parts.counts?.plan(owner, change.kind === 'add' ? 1 : -1, draft, change.stage)
    draft.follow(change.stage, rerouted({ model: this.model, key: owner }, isInOwner))
    changes.send(change, draft)
  }

  addition(at: StoredMember): WriteCommand {
    return this.commands.put(at, this.homeOf(at.owner, at.member), this.#placement(at.owner))
  }

  removal({ owner, member, endedAt }: StoredMember, from?: RecordKey): WriteCommand {
    if (from !== undefined) return linkWrite(this.model, from, [this.layout.take(this.bin, [member])])
    return this.commands.take([member], this.homeOf(owner, member), this.#placement(owner), false, endedAt)
  }

  /** While members move, they are taken out wherever they may be. */
  trim(owner: RecordKey, members: readonly UserKey[]): readonly WriteCommand[] {
    const placement = this.#placement(owner)
    const now = this.byHome(owner, members)
    const taken = now.map(({ home, here }) => this.commands.take(here, home, placement))
    if (!isMoving(placement)) return taken
    const before = this.byHome(owner, members, (member) => this.scheme.homeOf(owner, member, placement.move!.from))
    return [...taken, ...before.map(({ home, here }) => this.commands.takeFrom(home, here))]
  }

  #placement(owner: RecordKey): Placement {
    return this.scheme.of(owner)
  }
}
