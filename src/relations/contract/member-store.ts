import type { KeyValue } from '../../keys/index.js'
import type { EntityModel } from '../../model/index.js'
import type { Bins, ReadCommand, WriteCommand } from '../../plan/command.js'
import type { WriteOperation } from '../../plan/operation.js'
import type { Outcome, StoredRecord } from '../../plan/outcome.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { CollectionMembers } from './collection-members.js'
import type { EndedEntries } from './ended-entries.js'
import type { GrowingMembers } from './growing-members.js'
import type { Reader } from './reader.js'
import type { Tracked } from './tracked.js'

/** A member of an owner's collection, by the stored keys of both. */
export interface StoredMember {
  readonly owner: RecordKey
  readonly member: UserKey
  /** Attributes of the link; without some, those of a link that is there already stay. */
  readonly attributes?: Value
  /** When the link was ended, where such links stay stored; null: what is stored of ended ones stays as it is. Without it, a removal leaves nothing. */
  readonly endedAt?: number | null
  /** True when the same flush creates the owner's record. */
  readonly isOwnerNew?: boolean
  /** True when the same flush writes the owner's record, whether it is there or not. */
  readonly isOwnerUpserted?: boolean
  /** True when the same flush creates the owner's record where it is missing, through a handle. */
  readonly isOwnerMade?: boolean
  /** True for an add of verify: an owner that is deleted softly keeps its members, and takes those that name it. */
  readonly isRepair?: boolean
  /** True for an add that replaces a link which may be stored elsewhere. */
  readonly isReplaced?: boolean
}

/** A read of one record, and how its answer names members. */
export interface MemberQuestion {
  readonly command: ReadCommand
  readonly found: (record: StoredRecord | null) => readonly UserKey[]
}

/** A write that tells an owner how its members are stored. */
export interface Telling {
  readonly command: WriteCommand
  /** False where the owner says otherwise: then its members belong elsewhere. */
  readonly agrees: (outcome: Outcome) => boolean
}

/** Members whose keys do not say which record holds them. */
export interface MemberLookup {
  /** Whether the record is one of those that hold members of the owner, as far as is known. */
  isHome(owner: RecordKey, home: RecordKey): boolean
}

/** Lists of the owners of a child: a reference to several classes has owners that keep them in different sets. */
export interface OwnerLists {
  /** Store in which the owner of that record keeps its list. */
  at(owner: RecordKey): MemberStore
  /** True where some of them are not in the owner's own record. */
  readonly isApart: boolean
}

/**
 * Says where one side of a relation keeps the keys of its members, in the owner's own record or in others, and how they get there. What
 * changes members returns a promise only inside a transaction, where it may have to read first; then it needs the reader.
 */
export interface MemberStore extends OwnerLists {
  /** The class of the owners. */
  readonly model: EntityModel
  /** The bin, in each home, that holds the keys. */
  readonly bin: string
  /** The bin beside it that keeps links which were ended, where they stay stored. */
  readonly ended?: string
  /** Store of those links, where the key of a member does not say which record keeps them. */
  readonly endedLinks?: MemberStore
  /** Their entries, where a link may have several. */
  readonly endedEntries?: EndedEntries
  /** Bins of the owner's own record that hold members, to be read with it. */
  readonly bins: readonly string[]
  /** Records that hold the members of an owner. */
  homes(owner: RecordKey): readonly RecordKey[]
  /** The record that holds this member, or would; where there is a `lookup`, the one that it would be added to now. */
  homeOf(owner: RecordKey, member: UserKey): RecordKey
  /** Bins of the owner's record that say where its members are; `learn` takes them over. */
  readonly schemeBins: readonly string[]
  learn(owner: RecordKey, bins: Bins): void
  /** Questions that the server answers without a load. */
  readonly members: CollectionMembers
  /** True where members are not in the owner's own record. */
  readonly isApart: boolean
  /** Present where members may move while others ask: only `held` and `attributesOf` tell who they are. */
  readonly growing?: GrowingMembers
  /** Present where a member may be in any of the homes: only `held` and `attributesOf` tell who they are. */
  readonly lookup?: MemberLookup
  /** Prepares the record of a new owner. */
  create(owner: Tracked, draft: Draft): void
  add(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader?: Reader): void | Promise<void>
  remove(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader?: Reader): void | Promise<void>
  /** Changes the attributes of a link that is there; `operations` are on the bin of its home. */
  change(
    at: StoredMember,
    operations: readonly WriteOperation[],
    draft: Draft,
    stage: StageName,
    settle: Settle,
    reader?: Reader,
  ): void | Promise<void>
  /** Puts a member into its home, which is there, or is made; `repair` does so only while nobody else writes there. */
  addition(at: StoredMember, isHomeThere: boolean): WriteCommand
  /** Tells an owner how its members are stored, before `repair` makes a home for the `added` members. Absent where owners that have homes always say it. */
  telling?(owner: RecordKey, added?: readonly StoredMember[]): Telling
  /** Takes a member out, whatever else happens to the owner; unless said otherwise, of its home. */
  removal(at: StoredMember, from?: RecordKey): WriteCommand
  /** Lets members in again where a delete was cut short. */
  reopening(home: RecordKey): WriteCommand
  /**
   * Lets no more members in, because the owner is being deleted, and sees to it that what holds them goes with it. `closed` is told which
   * members each record has once nothing can come any more; in a transaction nothing can come anyway, and it is not called.
   */
  close(
    owner: Tracked,
    draft: Draft,
    reader: Reader,
    closed?: (members: readonly UserKey[]) => void,
  ): void | Promise<void>
  /** Takes members of an owner out whose delete has begun. */
  trim(owner: RecordKey, members: readonly UserKey[]): readonly WriteCommand[]
  /** Asks which of these members the owner has. */
  among(owner: RecordKey, members: readonly UserKey[]): readonly MemberQuestion[]
  /** Filters these members for those that the owner has. */
  held(owner: RecordKey, members: readonly UserKey[], reader: Pick<Reader, 'read'>): Promise<readonly UserKey[]>
  /** Attributes of one link, where links have some. */
  attributesOf(at: StoredMember, reader: Pick<Reader, 'read'>): Promise<Value | undefined>
  /** Keys of members that are still there, so many at a time, for those who take them out; ends when there are none. */
  drained(owner: Tracked, reader: Reader, count: number): AsyncIterable<readonly KeyValue[]>
  /** Keys of all members, each once, so many at a time. */
  surveyed(owner: Tracked, reader: Reader, count: number): AsyncIterable<readonly KeyValue[]>
  /** Reads everything that is stored of each owner's members, as its bin would hold it in one record. */
  read(owners: readonly RecordKey[], reader: Reader): Promise<readonly (Value | undefined)[]>
}
