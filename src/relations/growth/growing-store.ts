import type { KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { read, type Bins, type WriteCommand } from '../../plan/command.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import type { WriteOperation } from '../../plan/operation.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { SplitAccess } from '../../plan/split-access.js'
import type { Value } from '../../plan/value.js'
import type { CollectionMembers } from '../contract/collection-members.js'
import type { GrowingMembers } from '../contract/growing-members.js'
import { isCreation } from '../contract/member.js'
import type { MemberQuestion, MemberStore, StoredMember } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import { markDeleting, readingKeys } from '../write/delete-marker.js'
import { amongIn, linkWrite, type LinkBin } from '../write/link-bin.js'
import { reroutedWhenSplit } from '../write/explain-reads.js'
import type { Change } from './growing-changes.js'
import { growthPartsOf, type GrowthParts } from './growth-parts.js'
import { isMoving, type Placement, type Shards } from './placement.js'

/** Keeps members in their owner's record until that becomes too large or too busy, then in companions, and moves them while others go on. */
export class GrowingStore implements MemberStore, GrowingMembers {
  readonly model: EntityModel
  readonly bin: string
  readonly bins: readonly string[] = []
  readonly isApart = true
  readonly schemeBins: readonly string[]
  readonly moveBin: string
  readonly #target: EntityModel
  readonly #layout: LinkBin
  readonly #parts: GrowthParts

  constructor(
    model: EntityModel,
    relation: RelationModel,
    target: EntityModel,
    layout: LinkBin,
    recode?: (carried: Value) => Value,
  ) {
    this.model = model
    this.bin = relation.bin!
    this.#target = target
    this.#layout = layout
    this.#parts = growthPartsOf(model, relation, target, layout, recode)
    this.schemeBins = this.#parts.scheme.names
    this.moveBin = this.#parts.scheme.bins.move
  }

  get growing(): GrowingMembers {
    return this
  }

  get members(): CollectionMembers {
    return this.#parts.reads
  }

  at(): this {
    return this
  }

  /** While members move, also those where they were. */
  homes(owner: RecordKey): readonly RecordKey[] {
    const { scheme } = this.#parts
    const { shards, move } = scheme.of(owner)
    const homes = [shards, ...(move === undefined ? [] : [move.from, move.to])].flatMap((of) => scheme.homes(owner, of))
    return [...new Map(homes.map((home) => [recordId(home), home])).values()]
  }

  homeOf(owner: RecordKey, member: UserKey): RecordKey {
    return this.#parts.scheme.homeOf(owner, member, this.#placement(owner).shards)
  }

  learn(owner: RecordKey, bins: Bins): void {
    this.#parts.scheme.learn(owner, bins)
  }

  isUnsettled(owner: RecordKey): boolean {
    return this.#placement(owner).move !== undefined
  }

  async finish(owner: RecordKey, access: SplitAccess): Promise<void> {
    await this.#parts.mover.finish(owner, access)
  }

  async reshard(owner: RecordKey, shards: Shards, access: SplitAccess): Promise<void> {
    await this.#parts.mover.move(owner, shards, 'call', access)
  }

  create(owner: Tracked, draft: Draft): void {
    const exists = isCreation(owner) ? 'mustNotExist' : 'upsert'
    const create = linkWrite(this.model, owner.key, [this.#layout.create(this.bin)], exists)
    draft.add('write', create, ({ state }) => state === 'written')
  }

  add(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader?: Reader): void | Promise<void> {
    const { commands } = this.#parts
    // Attributes of a link that is there already stay, where none are given.
    const keepsAttributes = this.#layout.attributesOf !== undefined && at.attributes === undefined
    const needsMember = keepsAttributes || this.#parts.counts !== undefined
    const command: Change['command'] = (home, placement, isInside) => commands.put(at, home, placement, isInside)
    if (!draft.isInside) draft.follow(stage, reroutedWhenSplit({ model: this.model, key: at.owner }))
    return this.#send({ kind: 'add', at, stage, settle, command, needsMember }, draft, reader)
  }

  remove(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader?: Reader): void | Promise<void> {
    const { commands } = this.#parts
    const command: Change['command'] = (home, placement, isInside) =>
      commands.take([at.member], home, placement, isInside)
    return this.#send(
      { kind: 'remove', at, stage, settle, command, needsMember: this.#parts.counts !== undefined },
      draft,
      reader,
    )
  }

  change(
    at: StoredMember,
    operations: readonly WriteOperation[],
    draft: Draft,
    stage: StageName,
    settle: Settle,
    reader?: Reader,
  ): void | Promise<void> {
    const { commands } = this.#parts
    const command: Change['command'] = (home, placement, isInside) =>
      commands.change(operations, home, placement, isInside)
    return this.#send({ kind: 'change', at, stage, settle, command, needsMember: true }, draft, reader)
  }

  #send(change: Change, draft: Draft, reader?: Reader): void | Promise<void> {
    const { owner, member } = change.at
    const { changes, inside } = this.#parts
    draft.tie(this.homeOf(owner, member), owner)
    if (draft.isInside) return inside.send(change, draft, reader!)
    // A transaction that is only being planned must hold the owner as well, where that counts its members.
    if (draft.isTransaction && change.kind !== 'change')
      this.#parts.counts?.add(owner, change.kind === 'add' ? 1 : -1, draft, change.stage)
    changes.send(change, draft)
  }

  addition(at: StoredMember): WriteCommand {
    return this.#parts.commands.put(at, this.homeOf(at.owner, at.member), this.#placement(at.owner))
  }

  removal({ owner, member }: StoredMember, from?: RecordKey): WriteCommand {
    const { commands } = this.#parts
    if (from !== undefined) return commands.takeFrom(from, [member])
    return commands.take([member], this.homeOf(owner, member), this.#placement(owner))
  }

  reopening(home: RecordKey): WriteCommand {
    return this.#parts.commands.unmark(home)
  }

  close(
    owner: Tracked,
    draft: Draft,
    reader: Reader,
    closed?: (members: readonly UserKey[]) => void,
  ): void | Promise<void> {
    if (draft.isTransaction) return this.#dropAll(owner, draft, reader)
    const { commands } = this.#parts
    const mark = commands.asking(markDeleting(owner))
    draft.add('mark', closed === undefined ? mark : readingKeys(mark, this.bin), (outcome) => {
      if (outcome.state === 'written') {
        this.learn(owner.key, commands.told(outcome))
        closed?.(this.#layout.keysIn(outcome.bins[this.bin] ?? [], this.#target))
        this.#closeHomes(owner, draft, closed)
      }
      return isWrittenOrMissing(outcome)
    })
  }

  /** The owner is marked, so no more companions come, and each that is there is marked and goes before it. */
  #closeHomes({ key }: Tracked, draft: Draft, closed?: (members: readonly UserKey[]) => void): void {
    const { commands } = this.#parts
    for (const home of this.#companions(key)) {
      const mark = commands.mark(home)
      draft.add('mark', closed === undefined ? mark : readingKeys(mark, this.bin), (outcome) => {
        if (outcome.state === 'written') {
          closed?.(this.#layout.keysIn(outcome.bins[this.bin] ?? [], this.#target))
          draft.add('delete', commands.drop(home), isWrittenOrMissing)
        }
        return isWrittenOrMissing(outcome)
      })
    }
  }

  async #dropAll({ key }: Tracked, draft: Draft, reader: Reader): Promise<void> {
    const [root] = await reader.read([read(this.model.name, key, this.schemeBins)])
    if (root !== null) this.learn(key, root.bins)
    const homes = this.#companions(key)
    const records = await reader.read(homes.map((home) => read(this.model.name, home, 'none')))
    homes.forEach((home, i) => {
      if (records[i] !== null) draft.add('delete', this.#parts.commands.drop(home), isWrittenOrMissing)
    })
  }

  #companions(owner: RecordKey): readonly RecordKey[] {
    return this.homes(owner).filter((home) => recordId(home) !== recordId(owner))
  }

  /** While members move, they are taken out wherever they may be. */
  trim(owner: RecordKey, members: readonly UserKey[]): readonly WriteCommand[] {
    const { commands } = this.#parts
    const placement = this.#placement(owner)
    const now = this.#byHome(owner, members, placement.shards)
    const taken = now.map(({ home, here }) => commands.take(here, home, placement))
    if (!isMoving(placement)) return taken
    const before = this.#byHome(owner, members, placement.move!.from)
    return [...taken, ...before.map(({ home, here }) => commands.takeFrom(home, here))]
  }

  among(owner: RecordKey, members: readonly UserKey[]): readonly MemberQuestion[] {
    const { shards } = this.#placement(owner)
    return this.#byHome(owner, members, shards).map(({ home, here }) =>
      amongIn(this.#layout, { model: this.model, key: home, bin: this.bin }, here),
    )
  }

  held(owner: RecordKey, members: readonly UserKey[], reader: Pick<Reader, 'read'>): Promise<readonly UserKey[]> {
    return this.#parts.reads.held(owner, members, reader)
  }

  attributesOf({ owner, member }: StoredMember, reader: Pick<Reader, 'read'>): Promise<Value | undefined> {
    return this.#parts.reads.attributesOf(owner, member, reader)
  }

  async *drained(owner: Tracked, reader: Reader, count: number): AsyncGenerator<readonly KeyValue[]> {
    const { reads } = this.#parts
    for await (const keys of reads.firsts(owner.key, reader, count)) yield reads.keysOf(owner, keys, reader)
  }

  async *surveyed(owner: Tracked, reader: Reader, count: number): AsyncGenerator<readonly KeyValue[]> {
    const { reads } = this.#parts
    for await (const keys of reads.walk(owner.key, reader, count)) yield reads.keysOf(owner, keys, reader)
  }

  read(owners: readonly RecordKey[], reader: Reader): Promise<readonly (Value | undefined)[]> {
    return Promise.all(owners.map((owner) => this.#parts.reads.whole(owner, reader)))
  }

  #placement(owner: RecordKey): Placement {
    return this.#parts.scheme.of(owner)
  }

  #byHome(
    owner: RecordKey,
    members: readonly UserKey[],
    shards: Shards,
  ): readonly { readonly home: RecordKey; readonly here: readonly UserKey[] }[] {
    const homes = new Map<string, { readonly home: RecordKey; readonly here: UserKey[] }>()
    for (const member of members) {
      const home = this.#parts.scheme.homeOf(owner, member, shards)
      const known = homes.get(recordId(home)) ?? { home, here: [] }
      known.here.push(member)
      homes.set(recordId(home), known)
    }
    return [...homes.values()]
  }
}
