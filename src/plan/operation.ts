import type { Expression, PathLevel } from './expression.js'
import type { Path } from './path.js'
import type { MapKey, Value } from './value.js'

export type { Path, Step } from './path.js'

export type Order = 'ordered' | 'unordered'
export type MapOrder = Order | 'keyValue'

/** Subtype of a map that a put creates; the server ignores it where the map exists. */
export interface MapSubtype {
  readonly order: 'ordered' | 'keyValue'
  readonly persistIndex: boolean
}

/** Result of a read or a removal of list or map elements. */
export type Returns = 'none' | 'count' | 'value' | 'key' | 'keyValue' | 'index' | 'rank' | 'exists'

interface OnBin<K extends string> {
  readonly kind: K
  readonly bin: string
}
interface InBin<K extends string> extends OnBin<K> {
  /** Path into the bin's value; absent or empty: the bin's own list or map. */
  readonly path?: Path
  /** Asked for without having read what it changes, which may never have been there. */
  readonly isUnread?: true
}

export interface WriteBin extends OnBin<'writeBin'> {
  readonly value: Value
}
export type RemoveBin = OnBin<'removeBin'>
/** Writes the bin only where the record has none. */
export interface WriteMissingBin extends OnBin<'writeMissingBin'> {
  readonly value: Value
}
/** Writes the number of items of a list or map, as it is at this place of the command; 0 where there is none. */
export interface WriteSize extends OnBin<'writeSize'> {
  readonly of: string
  readonly type: 'list' | 'map'
}
/** Adds the number of items that a list or map has at this place of the command, or subtracts it. One before and one after a change add the difference. */
export interface AddSize extends OnBin<'addSize'> {
  readonly of: string
  readonly type: 'list' | 'map'
  readonly sign: 1 | -1
}
/** Adds to an integer or double bin on the server; a missing bin counts as 0. A bin that counts writes takes one too many without harm. */
export interface AddToBin extends OnBin<'addToBin'> {
  readonly delta: Value
  readonly countsWrites?: true
}
export type ReadBin = OnBin<'readBin'>
/** Gives the value of an expression under a name of its own, so a write to the same bin does not hide it. */
export interface ReadExpression {
  readonly kind: 'readExpression'
  readonly name: string
  readonly expression: Expression
}
/** Applies the command's TTL and changes nothing else. */
export interface Touch {
  readonly kind: 'touch'
}
/** Removes every bin; writes that follow in the same command make up the whole record. */
export interface DeleteRecord {
  readonly kind: 'deleteRecord'
}

/** Sets order and persisted index; only in a command that creates the record. */
export interface ListCreate extends InBin<'listCreate'> {
  readonly order: Order
  readonly persistIndex: boolean
}
export interface ListAppend extends InBin<'listAppend'> {
  readonly values: readonly Value[]
  readonly order: Order
}
/** Adds the values that are not there yet; the order is that of a list which the append creates. */
export interface ListAppendUnique extends InBin<'listAppendUnique'> {
  readonly values: readonly Value[]
  readonly order: Order
}
export interface ListRemoveValues extends InBin<'listRemoveValues'> {
  readonly values: readonly Value[]
  readonly returns: Returns
}
export interface ListRemoveIndexRange extends InBin<'listRemoveIndexRange'> {
  readonly index: number
  readonly count: number
  readonly returns: Returns
}
export interface ListRemoveRankRange extends InBin<'listRemoveRankRange'> {
  readonly rank: number
  readonly count: number
}
/** Removes the items from `begin` up to, but not including, `end`, or with `keep` all others; null leaves a side open. */
export interface ListRemoveInterval extends InBin<'listRemoveInterval'> {
  readonly begin: Value
  readonly end: Value
  readonly keep: boolean
}
/** Removes the tuples that a list holds of entries of a map bin: values of their fields, then `id`. Entries that lack a field have none. */
export interface ListRemoveFound extends OnBin<'listRemoveFound'> {
  /** Map bin with the entries. */
  readonly within: string
  readonly fields: readonly { readonly name: string; readonly type: 'int' | 'str' | 'float' }[]
  readonly entries: readonly FoundEntry[]
}
/** Puts the tuples into a list that entries of a map bin have by now, in place of those that the sender took them to have. */
export interface ListPutFound extends OnBin<'listPutFound'>, Omit<ListRemoveFound, 'kind' | 'bin'> {
  readonly assumed: readonly Value[]
}
export interface FoundEntry {
  /** Key of the entry, or the map bin that holds it under `id`. */
  readonly at: { readonly key: MapKey } | { readonly foundIn: string }
  readonly id: MapKey
}
export interface ListSet extends InBin<'listSet'> {
  readonly index: number
  readonly value: Value
}
export interface ListInsert extends InBin<'listInsert'> {
  readonly index: number
  readonly values: readonly Value[]
  /** Leaves out the values that are there already. */
  readonly unique: boolean
}
export interface ListIncrement extends InBin<'listIncrement'> {
  readonly index: number
  readonly delta: Value
}
export type ListClear = InBin<'listClear'>
export type ListSize = InBin<'listSize'>
export interface ListGetIndexRange extends InBin<'listGetIndexRange'> {
  readonly index: number
  readonly count: number
  readonly returns: Returns
}
export interface ListGetValues extends InBin<'listGetValues'> {
  readonly values: readonly Value[]
  readonly returns: Returns
}

export interface MapCreate extends InBin<'mapCreate'> {
  readonly order: MapOrder
  readonly persistIndex: boolean
}
export interface MapPut extends InBin<'mapPut'> {
  readonly key: MapKey
  readonly value: Value
  /** K-ordered unless given. */
  readonly subtype?: MapSubtype
}
export interface MapPutItems extends InBin<'mapPutItems'> {
  readonly items: ReadonlyMap<MapKey, Value>
  readonly subtype?: MapSubtype
}
export interface MapIncrement extends InBin<'mapIncrement'> {
  readonly key: MapKey
  readonly delta: Value
  readonly subtype?: MapSubtype
}
export interface MapRemoveKeys extends InBin<'mapRemoveKeys'> {
  readonly keys: readonly MapKey[]
  readonly returns: Returns
}
/** Puts the entry only where the key is not there yet. */
export interface MapPutMissing extends InBin<'mapPutMissing'> {
  readonly key: MapKey
  readonly value: Value
  readonly subtype?: MapSubtype
}
export interface MapRemoveValues extends InBin<'mapRemoveValues'> {
  readonly values: readonly Value[]
}
/** Removes the entries whose keys another map bin holds under `keys`; nothing for those that it does not have. */
export interface MapRemoveFound extends OnBin<'mapRemoveFound'> {
  /** Map bin that holds the keys of the entries. */
  readonly within: string
  readonly keys: readonly MapKey[]
}
/** Moves entries, as they are stored, to other keys; fails where neither key of one is there, and leaves those that were moved already. */
export interface MapMove extends OnBin<'mapMove'> {
  readonly moves: readonly EntryMove[]
}
export interface EntryMove {
  readonly from: MapKey
  readonly to: MapKey
}
/** Moves an entry of the map bin `from` into this one, as a list of `stamp` and the entry; changes nothing where there is no such entry. */
export interface MapSetAside extends OnBin<'mapSetAside'> {
  readonly from: string
  readonly key: MapKey
  readonly stamp: number
}
/** Removes the entries whose values are below `end`, in the order of values. */
export interface MapRemoveBelow extends OnBin<'mapRemoveBelow'> {
  readonly end: Value
  readonly returns: Returns
}
/** Removes all entries but `count` from `from` on, in key order (`index`) or in value order (`rank`). */
export interface MapKeepRange extends OnBin<'mapKeepRange'> {
  readonly by: 'index' | 'rank'
  readonly from: number
  readonly count: number
}
export type MapClear = InBin<'mapClear'>
export type MapSize = InBin<'mapSize'>
export interface MapGetKeys extends InBin<'mapGetKeys'> {
  readonly keys: readonly MapKey[]
  readonly returns: Returns
}
/** Keys from `begin` up to but not including `end`; `null` leaves that side open. */
export interface MapGetKeyRange extends InBin<'mapGetKeyRange'> {
  readonly begin: MapKey | null
  readonly end: MapKey | null
  readonly returns: Returns
}
export interface MapGetIndexRange extends InBin<'mapGetIndexRange'> {
  readonly index: number
  readonly count: number
  readonly returns: Returns
}

/** Changes all values of a list or map bin that a path leads to; nothing where the bin is missing or the path leads nowhere. */
export interface ChangeByPath extends OnBin<'changeByPath'> {
  readonly type: 'list' | 'map'
  readonly levels: readonly PathLevel[]
  readonly change: Expression
  /** True for an increment: twice is not the same as once. */
  readonly adds: boolean
}

/** An operation of the official client that only reads, sent as it is. */
export interface RawRead extends OnBin<'rawRead'> {
  readonly operation: object
}
/** An operation of the official client that writes, sent as it is; its bin is empty where it concerns the whole record. */
export interface RawWrite extends OnBin<'rawWrite'> {
  readonly operation: object
  /** Twice is the same as once, so it may be repeated when its answer was lost. */
  readonly isIdempotent: boolean
}

export type ReadOperation =
  | RawRead
  | ReadBin
  | ReadExpression
  | ListSize
  | ListGetIndexRange
  | ListGetValues
  | MapSize
  | MapGetKeys
  | MapGetKeyRange
  | MapGetIndexRange

export type WriteOperation =
  | ChangeByPath
  | RawWrite
  | WriteBin
  | RemoveBin
  | WriteMissingBin
  | WriteSize
  | AddSize
  | AddToBin
  | Touch
  | DeleteRecord
  | ListCreate
  | ListAppend
  | ListAppendUnique
  | ListRemoveValues
  | ListRemoveIndexRange
  | ListRemoveRankRange
  | ListRemoveInterval
  | ListRemoveFound
  | ListPutFound
  | ListSet
  | ListInsert
  | ListIncrement
  | ListClear
  | MapCreate
  | MapPut
  | MapPutItems
  | MapIncrement
  | MapPutMissing
  | MapRemoveKeys
  | MapRemoveValues
  | MapRemoveFound
  | MapMove
  | MapSetAside
  | MapRemoveBelow
  | MapKeepRange
  | MapClear

/** An operation on one record, as data. */
export type Operation = ReadOperation | WriteOperation
export type OperationKind = Operation['kind']
