import type { KeyValue } from '../../keys/index.js'

/**
 * Kinds of findings. `danglingKey`: a key whose record is gone (deleted bypassing Skein, or expired). `missingLink`: a child that says whose it
 * is, and is not on that list. `oneSidedLink`: a link that only one of the two records has. `differentAttributes`: a link that both
 * have, with different attributes. `endedAgain`: an entry of a link that was ended, although the link is there again. `staleMarker`: a record whose delete began and never ended. `unreadable`: a record that does not say its own key, so
 * its links cannot be checked; `key` is then its digest; or, with a `property`, a child inside the record, a list of keys, or a reference, that cannot be read.
 * Inside one record: `wrongIndex`: the map from what children point to, to their keys, does not say what the children say.
 * `wrongSortKey`: the map from a child's key to its place does not. `wrongOrder`: the list of a further order does not. `misplacedPart`: a child is not where its own values say, or its key leads to another record.
 * `duplicatePart`: two children have the same key. `unfinishedCreate`: a child that was created for an owner, by a flush that failed and was given up
 * before it linked the two.
 * `wrongLayout`: a list or map that is stored in another order than the class declares.
 * `wrongCount`: a `@CountOf` that is not the number of members in the record.
 * `staleCopy`: a `@Copy` that is not what its source says.
 * Of companion records: `companionWithoutRoot`: the record that it belongs to is gone. `unreadCompanion`: one of a counter, whose shard is past those that
 * the class reads, or one that was made for a split which was over by then. `misplacedMember`: a member of a collection is in another shard than its key says, or still in the record of its owner.
 * `duplicateMember`: a list of keys, in the owner's record or a companion, holds one of them more than once.
 * `unfinishedSplit`: members of a collection were being moved to other records when a process ended.
 * `unfinishedArchive`: a record is both in the archive and outside of it, or not where one is that belongs to it.
 */
export type FindingKind =
  | 'danglingKey'
  | 'missingLink'
  | 'oneSidedLink'
  | 'differentAttributes'
  | 'endedAgain'
  | 'wrongIndex'
  | 'wrongSortKey'
  | 'wrongOrder'
  | 'misplacedPart'
  | 'duplicatePart'
  | 'wrongCount'
  | 'staleCopy'
  | 'wrongLayout'
  | 'companionWithoutRoot'
  | 'unreadCompanion'
  | 'staleMarker'
  | 'misplacedMember'
  | 'duplicateMember'
  | 'unfinishedSplit'
  | 'unfinishedArchive'
  | 'unreadable'
  | 'unfinishedCreate'

/**
 * `found`: reported, nothing was written. `repaired`: written. `leftAlone`: somebody changed the record after it was checked or
 * a moment before, so another run has to look at it. `failed`: see `error`.
 */
export type FindingState = 'found' | 'repaired' | 'leftAlone' | 'failed'

/** Disagreement between stored records, as plain data. */
export interface Finding {
  readonly kind: FindingKind
  /** Class, property and key of the record that is wrong, which is the one that repair writes to. */
  readonly className: string
  readonly property?: string
  readonly key: KeyValue
  /** The child inside the record, where it is about one. */
  readonly partKey?: KeyValue
  /** The record at the other end of the link, or that a child points to. */
  readonly otherClass?: string
  readonly otherKey?: KeyValue
  /** Side that was taken as correct: the owner side of the relation (`Listing.agent`), or the class of the record that is gone. */
  readonly truth: string
  /** Action of a repair on the record: add the other's key, remove it, move a child or member where it belongs, let members in again, count or copy again, store it in the declared order, finish the delete, delete a link record without an end, or nothing. */
  readonly repair:
    'add' | 'remove' | 'move' | 'reopen' | 'count' | 'copy' | 'convert' | 'finishDelete' | 'delete' | 'none'
  readonly state: FindingState
  /** Finding as a sentence. */
  readonly message: string
  /** Reason why it could not be repaired. */
  readonly error?: Error
}
