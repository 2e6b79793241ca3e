import type { SkeinError } from '../../errors/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import type { WriteCommand } from '../../plan/command.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import type { WriteOperation } from '../../plan/operation.js'
import { together } from '../../plan/plan-draft.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { isCreation } from '../contract/member.js'
import type { EndedEntries, EndedLink } from '../contract/ended-entries.js'
import type { MemberLookup, StoredMember, Telling } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import { CompanionChanges } from '../write/companion-changes.js'
import { CompanionCounts } from '../write/companion-counts.js'
import { endedOf } from '../write/ended-bin.js'
import { tellingOwner } from '../write/companion-lifecycle.js'
import { routingToBucket } from '../write/explain-reads.js'
import { linkWrite, mapBin, type LinkBin } from '../write/link-bin.js'
import { StoreApart } from '../write/store-apart.js'
import { BucketChanges } from './bucket-changes.js'
import { BucketCommands } from './bucket-commands.js'
import { BucketReads } from './bucket-reads.js'
import { BucketScheme } from './bucket-scheme.js'
import { EndedBucketReads } from './ended-bucket-reads.js'
import { BucketsInTransaction } from './buckets-in-transaction.js'
import { LinkDates, type DatedCodec } from './link-dates.js'
import { LinkedAlone } from './linked-alone.js'
import { replacedLink, type ReplacedLink } from './replaced-link.js'

/** Keeps links in companion records of some hours or days each: by a date among their attributes, or by the time at which they are made. */
export class BucketStore extends StoreApart {
  readonly ended: string | undefined
  readonly endedLinks: BucketStore | undefined
  readonly endedEntries: EndedEntries | undefined
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
  /** Takes out what is stored of an ended link when it is made again, wherever that is. */
  readonly #alone: LinkedAlone | undefined

  constructor(
    model: EntityModel,
    relation: RelationModel,
    target: EntityModel,
    layout: LinkBin,
    attributes: DatedCodec | undefined,
    ended?: BucketScheme,
  ) {
    super(model, relation, target, layout)
    const companions = { ...relation.companions!, buckets: relation.companions!.buckets! }
    this.scheme = ended ?? new BucketScheme(model, relation.name, companions, Number)
    this.#dates = new LinkDates(model, relation, this.scheme, attributes)
    this.commands = new BucketCommands(model, this.bin, relation.index, layout, this.scheme)
    this.#counts = ended === undefined ? CompanionCounts.of(model, relation) : undefined
    this.#adds = new CompanionChanges(this.commands, this.scheme, relation.name, this.#counts)
    const Reads = ended === undefined ? BucketReads : EndedBucketReads
    this.reads = new Reads(model, relation, target, layout, this.scheme, this.#dates)
    this.#inside = new BucketsInTransaction(this.commands, this.scheme, layout, this.bin, this.#counts)
    this.ended = layout.ended?.name
    if (layout.ended !== undefined)
      this.endedLinks = new BucketStore(
        model,
        endedOf(relation),
        target,
        mapBin,
        datesOfEnded(attributes!),
        this.scheme,
      )
    const endedReads = (ended === undefined ? this.endedLinks?.reads : this.reads) as EndedBucketReads | undefined
    this.endedEntries = endedReads
    this.#changes = new BucketChanges(model, this.scheme, this.reads, endedReads, this.#counts)
    if (this.endedLinks !== undefined)
      this.#alone = new LinkedAlone(this.endedLinks.reads, (home, member) =>
        linkWrite(model, home, [mapBin.take(this.ended!, [member])]),
      )
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
    const put = (): void | Promise<void> => this.#put(at, time, draft, stage, settle, reader)
    const isPlanned = draft.isTransaction && (draft.isInside || !draft.isBegun)
    // Outside of transactions whoever has made the link drops ended entries afterwards.
    if (this.#alone === undefined || at.isOwnerNew === true || reader === undefined || !isPlanned) return put()
    return this.#alone.put({ at, home: this.scheme.homeOf(at.owner, time), stage }, draft, reader, put)
  }

  #put(
    at: StoredMember,
    time: number,
    draft: Draft,
    stage: StageName,
    settle: Settle,
    reader?: Reader,
  ): void | Promise<void> {
    const home = this.scheme.homeOf(at.owner, time)
    draft.tie(home, at.owner)
    if (at.isReplaced !== true || at.isOwnerNew === true) return this.#add(at, time, home, draft, stage, settle, reader)
    const link = replacedLink(settle)
    return together([
      this.#add(at, time, home, draft, stage, link.added, reader),
      this.#takeOthers(at, home, draft, link, reader),
    ])
  }

  /** Takes a member out of all buckets but that of its new link. */
  #takeOthers(
    at: StoredMember,
    except: RecordKey,
    draft: Draft,
    link: ReplacedLink,
    reader: Reader | undefined,
  ): void | Promise<void> {
    const command = (home: RecordKey, shards: number): WriteCommand => this.commands.take(home, [at.member], shards)
    const { removed: settle, nothingRemoved: skip } = link
    return this.#changes.send(
      { at, stage: 'remove references', settle, command, except, skip, delta: -1 },
      draft,
      reader,
    )
  }

  #add(
    at: StoredMember,
    time: number,
    home: RecordKey,
    draft: Draft,
    stage: StageName,
    settle: Settle,
    reader: Reader | undefined,
  ): void | Promise<void> {
    if (draft.isInside) return this.#inside.add(at, time, draft, stage, settle, reader!)
    this.#counts?.plan(at.owner, 1, draft, stage)
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

  /** Of a link that is ended, the newest stays, where it was made on several days. */
  remove(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader?: Reader): void | Promise<void> {
    const { member, endedAt } = at
    const command = (home: RecordKey, shards: number, isNewest: boolean): WriteCommand =>
      this.commands.take(home, [member], shards, isNewest || endedAt === null ? endedAt : undefined)
    const isForGood = endedAt === undefined
    return this.#changes.send({ at, stage, settle, command, isForGood, delta: -1 }, draft, reader)
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
    const gone = (): SkeinError => this.#dates.gone(at)
    return this.#changes.send({ at, stage, settle, command, isOfNewest: true, gone, delta: 0 }, draft, reader)
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
        const home = this.scheme.homeOf(owner, this.#repairedAt({ ...at, owner }), shards)
        return [recordId(home), home]
      }),
    )
    return tellingOwner(owner, this.commands, this.scheme, [...made.values()])
  }

  /** A link whose time is not known comes into the newest bucket that is there: so it is the same one whenever it is asked for. */
  #repairedAt({ owner, attributes }: StoredMember): number {
    const time = this.#dates.on === undefined ? undefined : this.#dates.timeIn(attributes)
    const newest = this.scheme.bucketsIn(owner).at(-1)?.start
    const expiry = newest === undefined ? undefined : this.scheme.expiryAt(newest, this.scheme.shardsOf(owner))
    const isThere = newest !== undefined && (expiry === undefined || expiry > Date.now())
    return time ?? (isThere ? newest : Date.now())
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

/** Ended links are found by the date that they had. */
const datesOfEnded = (codec: DatedCodec): DatedCodec => ({
  model: codec.model,
  decode: (stored) => codec.decode(stored),
  attributesIn: (stored) => (stored as EndedLink)[1],
})
