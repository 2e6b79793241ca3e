import type { ChildrenField } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import type { EntityClass, RelationModel } from '../../model/index.js'
import type { BinLayout } from '../../plan/bin-layout.js'
import type { Bins } from '../../plan/command.js'
import type { Expression } from '../../plan/expression.js'
import type { WriteOperation } from '../../plan/operation.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { MapKey, Value } from '../../plan/value.js'
import type { Tracked } from './tracked.js'
import type { CollectionMembers, CollectionView } from './collection-members.js'
import type { Reader } from './reader.js'
import type { EndedLinks } from './ended-links.js'
import type { Contributor, Deleted, OnRollback } from './contributor.js'
import type { GrowingMembers } from './growing-members.js'
import type { FoundHomes, IndexedBy } from './index-lookup.js'
import type { InsideVerification } from './inside-verification.js'
import type { LinkClass } from './link-class.js'
import type { LinkVerification } from './link-verification.js'
import type { Member } from './member.js'
import type { MemberStore } from './member-store.js'

/** Companion records of a relation, or of a counter, as those see them who move them to another namespace. */
export interface CompanionRecords {
  /** Companions that an owner may have, by what its record says. */
  of(owner: RecordKey, stored: Bins): readonly RecordKey[]
  /** Bins of a companion as they move, by what its owner's record says; absent where all move as they are. */
  settled?(owner: RecordKey, stored: Bins, companion: Bins): Bins
  /** Writes the members that a companion holds into another one. */
  copied(stored: Bins, owner: Tracked, reader: Reader): readonly WriteOperation[]
  /** Adds what a companion has counted to one that others have made meanwhile; absent where companions hold members. */
  added?(stored: Bins): readonly WriteOperation[]
}

/** Entities that were loaded, and the paths to follow from there. */
export interface LoadedLevel {
  readonly next: readonly Tracked[]
  readonly rest: readonly string[]
}

/** Part stored inside a record under its own key; null while it has none. */
export interface ChangedPart {
  readonly key: KeyValue | null
  readonly part: object
  /** Class of the part, and the path to it, where it is inside the part under that key. */
  readonly below?: { readonly class: EntityClass; readonly path: string; readonly id: KeyValue }
}

/** Fields of a part, or of a part inside it. */
export interface PartFields {
  /** Collections on the path to the part, and its id in each; none where it is the part itself. */
  readonly steps: readonly { readonly field: ChildrenField; readonly id: KeyValue }[]
  /** Names of the fields in the stored map. */
  readonly bins: ReadonlySet<string>
}

/** A part whose write is under way, as handles see it that change the part meanwhile. */
export interface SentPart {
  /** The part as it was sent. */
  snapshot: object
  /** All of the part is sent: if that fails, it is sent again as it is then. */
  readonly isPut: boolean
  /** Notes a recorded change that the write carries out: done if it succeeds, to be sent again if it fails. */
  carries(operation: WriteOperation, undo: () => void): void
  /** Notes a recorded change that is only to be sent if the write succeeds. */
  follow(undo: () => void): void
}

/** Location of one part in its record, and what the session knows of it. */
export interface LocatedPart {
  readonly id: KeyValue
  /** Undefined where only the record knows it: the collection has an order of its own. */
  readonly place: MapKey | undefined
  /** The loaded part; undefined where it is not loaded, null where it is to be removed, or is not among all that are loaded. */
  readonly part: object | null | undefined
  /** This session removes the part. */
  readonly isRemoved: boolean
  /** The part is new: its record does not have it yet. */
  readonly isAdded: boolean
  /** Set while a write of the loaded part is under way. */
  readonly sent: SentPart | undefined
  /** Operations for what was changed in these fields of the loaded part, since it was sent or stored; undefined where a part inside it was not there then. */
  unsent(fields: PartFields, since?: SentPart): readonly WriteOperation[] | undefined
  /** Marks what these fields of the loaded part show as stored, or recorded to be. */
  accept(fields: PartFields): void
  /** Set where another record than the owner's holds the part. */
  readonly apart?: {
    /** Records an operation on the part; the next flush sends it there. Returns its rollback. */
    record(operation: WriteOperation): () => void
    /** Operations that are recorded and not sent yet. */
    readonly recorded: readonly WriteOperation[]
    /** Answers in their order; undefined where there is no such record. */
    ask(expressions: readonly Expression[]): Promise<readonly (Value | undefined)[] | undefined>
  }
  /** The part shows this change when it is loaded, or read again, before the change is sent. */
  showWhenRead(change: UnsentChange): void
  /** Changes that wait until the part is read, which the next flush does. */
  readonly edits: readonly PartEdit[]
  edit(edit: Omit<PartEdit, 'id'>): void
  /** Reads the part, and makes the changes that have waited for that. */
  read(): Promise<void>
}

/** A change inside a part that can only be made once the part is read. */
export interface PartEdit {
  readonly id: KeyValue
  /** False where the part inside it that is to be changed is not there. */
  readonly apply: (part: object) => boolean
  /** The part that it adds, whose rules are checked. */
  readonly added?: ChangedPart | undefined
}

/** A change of a part that a handle has recorded. */
export interface UnsentChange {
  readonly apply: (part: object) => unknown
  /** False once it has been sent. */
  readonly isUnsent: () => boolean
  /** The part that it adds inside the child, whose rules are checked. */
  readonly added?: ChangedPart | undefined
}

/** Storage of one relation of one class: a contributor to loads, saves and deletes, and for a collection what the server can tell without loading it. */
export interface RelationStrategy extends Contributor {
  readonly relation: string
  readonly model: RelationModel
  /** The bins that must be read with the record so that this relation is loaded with it. */
  readonly bins: readonly string[]
  /** Order and index of the lists and maps that it keeps in bins of the owner's record. */
  readonly layouts?: readonly BinLayout[]
  /** Loads the related entities of all these entities at once, and says which they are. */
  load(level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]>
  /** Loads what members refer to, if the paths name it or it is eager. Present where members are not what the paths begin at: parts, and link records. */
  loadInside?(level: readonly Tracked[], reader: Reader, paths: readonly string[]): Promise<readonly LoadedLevel[]>
  readonly members?: CollectionMembers
  /** Store that keeps the keys of members; absent where no list or map of keys is stored. */
  readonly store?: MemberStore
  /** Present where members may move to other records while others ask. */
  readonly growing?: GrowingMembers
  /** Present where members are link records, which people see as what they lead to. */
  readonly links?: LinkClass
  /** True for a reference of a link record, which is nothing without it. */
  readonly isEndOfLink?: boolean
  /** Absent where nothing is stored that could disagree with another record. */
  readonly verification?: LinkVerification
  /** Finds members that were created for an owner, and never linked; absent where members may be there alone. */
  readonly leftovers?: LinkVerification
  /** Stored keys of the members that a record lists itself, or that share its key. */
  listed?(stored: Bins, owner: RecordKey): readonly UserKey[]
  /** The index that finds the members of an owner; absent where no index does. */
  readonly lookup?: (owner: Pick<Tracked, 'key'>) => IndexedBy
  /** Companion records that hold consolidated children, for those who move them. Absent where there are none. */
  readonly companions?: CompanionRecords
  /** Writes what a record holds of it into another one. Absent where its bins can be written as they are, in the order of `layouts`. */
  copied?(stored: Bins, owner: Tracked, reader: Reader): readonly WriteOperation[]
  /** Absent where nothing is stored twice in one record. */
  readonly inside?: InsideVerification
  /** The attributes of one link, where links have some; null when there is no such link. */
  attributesOf?(owner: Tracked, member: Member, reader: Reader): Promise<object | null>
  /** Links that were ended; absent where nothing stays of them. */
  readonly ended?: EndedLinks
  /** Key that a record, which need not be loaded, holds for a reference. Present where it holds one. */
  targetKey?(owner: Tracked, reader: Reader): Promise<KeyValue | null>
  /** Keys and attributes of all links of a record that need not be loaded. Present where links may have attributes. */
  storedLinks?(
    owner: Tracked,
    reader: Reader,
    /** Condition on a link, where the server is to leave out the others. Some may be among them all the same. */
    only?: Expression,
  ): Promise<readonly (readonly [KeyValue, object])[]>
  /** Throws when a Ref cannot point to this. */
  accept?(owner: Tracked, target: Member | null, reader: Reader): void
  /** Takes the partner that was read together with this entity, where both have the same key. */
  meet?(owner: Tracked, other: Tracked | null): void
  /** Eager means that its bins are read with the record, and that is all there is to load. */
  readonly isInRecord?: boolean
  /** Bins that it keeps for itself: no load needs them. */
  readonly quietBins?: readonly string[]
  /** The key of a member, where members are not entities of the session. */
  readonly keyOf?: (member: object) => KeyValue | null
  /** Throws when what its bin holds cannot be read; asked before an entity that the session has takes it over. */
  check?(owner: Tracked, stored: Value | undefined, reader: Reader): void
  /** The collection has been bound to the session; `stored` is what its bin holds, where it was read. */
  attached?(owner: Tracked, reader: Reader, stored: Value | undefined, isRead: boolean): void
  /** An entity that was loaded in part has got the rest, and with it this. */
  completed?(owner: Tracked, stored: Value | undefined): void
  /** Parts of the record that are new or changed, for those that check them, and their class. */
  readonly parts?: {
    readonly class: EntityClass
    changed(tracked: Tracked): Iterable<ChangedPart>
    /** Finds a part by its id, also where it is not loaded. Absent where parts belong to links. */
    locate?(tracked: Tracked, id: unknown): LocatedPart
  }
  /** Removes references made here to entities that are to be deleted, and that are not stored yet, as if they were. */
  rollback?(owner: Tracked, deleted: Deleted, onRollback: OnRollback, isPreview: boolean): void
  /** Takes in the parts that an inverse index lists under a key, and gives its entries for each owner. Present where other records than the owners' own hold the parts. */
  takePointing?(
    owners: readonly Tracked[],
    index: number,
    pointedTo: UserKey,
    reader: Reader,
    /** Records that the index has found; unless given, all are asked. */
    found?: FoundHomes,
  ): Promise<readonly (readonly Value[])[]>
  /** Reads these parts of an owner, and takes in what others have put into those that are known. */
  readAgain?(owner: Tracked, ids: readonly KeyValue[], reader: Reader): Promise<void>
  /** Answers all questions about members that are stored in the owner's record. */
  view?(owner: Tracked, reader: Reader): CollectionView
}
