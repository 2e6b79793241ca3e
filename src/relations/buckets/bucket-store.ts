import type { PartCodec } from '../../codec/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import type { WriteCommand } from '../../plan/command.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import type { WriteOperation } from '../../plan/operation.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { isCreation } from '../contract/member.js'
import type { MemberLookup, StoredMember, Telling } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import { CompanionChanges } from '../write/companion-changes.js'
import { CompanionCounts } from '../write/companion-counts.js'
import { tellingOwner } from '../write/companion-lifecycle.js'
import { routingToBucket } from '../write/explain-reads.js'
import { linkWrite, type LinkBin } from '../write/link-bin.js'
import { StoreApart } from '../write/store-apart.js'
import { BucketChanges } from './bucket-changes.js'
import { BucketCommands } from './bucket-commands.js'
import { BucketReads } from './bucket-reads.js'
import { BucketScheme } from './bucket-scheme.js'
import { BucketsInTransaction } from './buckets-in-transaction.js'
import { LinkDates } from './link-dates.js'

/** Keeps links in companion records of some hours or days each: by a date among their attributes, or by the time at which they are made. */
export class BucketStore extends StoreApart {
  protected readonly scheme: BucketScheme
  protected readonly commands: BucketCommands
  protected readonly reads: BucketReads
  readonly #dates: LinkDates
  readonly #counts: CompanionCounts | undefined
  /** Adds, whose bucket is known. */
  readonly #adds: CompanionChanges
  /** Changes of links that are there, whose bucket is not. */
  readonly #changes: BucketChanges
  readonly #inside: BucketsInTransaction

  constructor(
    model: EntityModel,
    relation: RelationModel,
    target: EntityModel,
    layout: LinkBin,
    attributes: PartCodec | undefined,
  ) {
    super(model, relation, target, layout)
    const companions = { ...relation.companions!, buckets: relation.companions!.buckets! }
    this.scheme = new BucketScheme(model, relation.name, companions, Number)
    this.#dates = new LinkDates(model, relation, this.scheme, attributes)
    this.commands = new BucketCommands(model, this.bin, relation.index, layout, this.scheme)
    this.#counts = CompanionCounts.of(model, relation)
    this.#adds = new CompanionChanges(this.commands, this.scheme, relation.name, this.#counts)
    this.reads = new BucketReads(model, relation, target, layout, this.scheme, this.#dates)
    this.#changes = new BucketChanges(this.scheme, this.reads, this.#counts)
    this.#inside = new BucketsInTransaction(this.commands, this.scheme, layout, this.bin, this.#counts)
  }

  readonly lookup: MemberLookup = {
    isHome: (owner, home) => this.homes(owner).some((each) => recordId(each) === recordId(home)),
  }

  /** The bucket of a link that is made now. */
  homeOf(owner: RecordKey): RecordKey {
    return this.scheme.homeOf(owner, Date.now())
  }

  create(owner: Tracked, draft: Draft): void {
    const isNew = isCreation(owner)
    // A deleted record under the same key may have had others.
    if (isNew) this.scheme.learn(owner.key)
    const command = this.commands.listed(owner.key, [], isNew ? 'mustNotExist' : 'upsert')
    draft.add('write', command, ({ state }) => state === 'written')
  }

  add(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader?: Reader): void | Promise<void> {
    const time = this.#timeOf(at, draft, stage)
    const home = this.scheme.homeOf(at.owner, time)
    draft.tie(home, at.owner)
    if (draft.isInside) return this.#inside.add(at, time, draft, stage, settle, reader!)
    // A transaction that is only being planned must hold the owner as well, where that counts its members.
    if (draft.isTransaction) this.#counts?.add(at.owner, 1, draft, stage)
    draft.follow(stage, routingToBucket({ model: this.model, key: at.owner }, home))
    if (at.isOwnerNew === true && draft.once(`list ${recordId(home)}`))
      draft.add('write', this.commands.listed(at.owner, [home], 'mustNotExist'), ({ state }) => state === 'written')
    this.#adds.send(
      {
        at: { ...at, member: time },
        stage,
        settle,
        command: (bucket, shards) => this.commands.put(at, bucket, shards),
        create: (bucket, shards) => this.commands.bucket(at, time, bucket, shards),
      },
      draft,
    )
  }

  remove(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader?: Reader): void | Promise<void> {
    const command = (home: RecordKey, shards: number): WriteCommand => this.commands.take(home, [at.member], shards)
    return this.#changes.send({ at, stage, settle, command, delta: -1 }, draft, reader)
  }

  change(
    at: StoredMember,
    operations: readonly WriteOperation[],
    draft: Draft,
    stage: StageName,
    settle: Settle,
    reader?: Reader,
  ): void | Promise<void> {
    const command = (home: RecordKey, shards: number): WriteCommand => {
      this.#dates.checkChange(at, operations, this.scheme.nameOf(at.owner, home))
      return this.commands.change(home, operations, shards)
    }
    return this.#changes.send({ at, stage, settle, command, isOfNewest: true, delta: 0 }, draft, reader)
  }

  /** Time of a link; one that is rolled back, or adjusted to what others store, may have no date. */
  #timeOf(at: StoredMember, { now }: Draft, stage: StageName): number {
    if (stage !== 'undo') return this.#dates.timeOf(at, now)
    return (this.#dates.on === undefined ? undefined : this.#dates.timeIn(at.attributes)) ?? now.getTime()
  }

  addition(at: StoredMember): WriteCommand {
    const time = this.#repairedAt(at)
    const shards = this.scheme.shardsOf(at.owner)
    return this.commands.putOrMake(at, time, this.scheme.homeOf(at.owner, time, shards), shards)
  }

  telling(owner: RecordKey, added: readonly StoredMember[] = []): Telling {
    const shards = this.scheme.shardsOf(owner)
    const made = new Map(
      added.map((at) => {
        const home = this.scheme.homeOf(owner, this.#repairedAt(at), shards)
        return [recordId(home), home]
      }),
    )
    return tellingOwner(owner, this.commands, this.scheme, [...made.values()])
  }

  #repairedAt({ attributes }: StoredMember): number {
    return (this.#dates.on === undefined ? undefined : this.#dates.timeIn(attributes)) ?? Date.now()
  }

  removal({ owner, member }: StoredMember, from: RecordKey = this.homeOf(owner)): WriteCommand {
    return linkWrite(this.model, from, [this.layout.take(this.bin, [member])])
  }

  trim(owner: RecordKey, members: readonly UserKey[]): readonly WriteCommand[] {
    const shards = this.scheme.shardsOf(owner)
    return this.byHome(owner, members).map(({ home, here }) => this.commands.take(home, here, shards))
  }

  /** Any bucket may have a member. */
  protected override byHome(owner: RecordKey, members: readonly UserKey[]): ReturnType<StoreApart['byHome']> {
    return this.homes(owner).map((home) => ({ home, here: members }))
  }
}
