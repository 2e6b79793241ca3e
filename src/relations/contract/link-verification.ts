import type { SkeinError } from '../../errors/index.js'
import type { EntityModel } from '../../model/index.js'
import type { WriteCommand } from '../../plan/command.js'
import type { Expression } from '../../plan/expression.js'
import type { ReadOperation } from '../../plan/operation.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { FindingKind } from './finding.js'
import type { MemberStore } from './member-store.js'

/** End of a link: the record, and how it stores the link if it does. */
export interface LinkEnd {
  readonly model: EntityModel
  readonly key: RecordKey
  /** The rest is absent where this side stores nothing. */
  readonly property?: string
  /** Record that keeps the link, if it is not this one; it is known once the record has said so. */
  readonly apart?: { readonly store: MemberStore; readonly member: UserKey; readonly home: () => RecordKey }
  /** True, or a count above 0, where the record holds the link. */
  readonly holds?: Expression
  /** Attributes stored with the link. */
  readonly carries?: Expression
  /** Of a link that was ended, where several records may keep it: true, or a count above 0, in one where the link is there again. */
  readonly again?: Expression
  /** Takes the link in, with what the owner stores with it; only a side that follows the other can be told to. */
  readonly add?: (carried: Value | undefined, isHomeThere: boolean) => WriteCommand
  /** Takes the link out of the record that was found to hold it. Absent where the record cannot do without it. */
  readonly remove?: (home?: RecordKey) => WriteCommand
  /** The record is a link, which is deleted where an end is gone. */
  readonly isLink?: true
  /** The record may be in the archive while that of the other end is not. */
  readonly mayBeApart?: true
  /** Present if the record can hold only one link: the key it holds, and the end of that record's own link to this one. */
  readonly only?: { readonly held: Expression; readonly rival: (held: UserKey) => LinkEnd }
}

/** A link between two records as their bins have it. */
export interface StoredLink {
  /** The end that is believed. */
  readonly owner: LinkEnd
  /** The end that has to follow. */
  readonly mirror: LinkEnd
  /** Kind of the finding when the owner has the link and the mirror has not. */
  readonly unmirrored: FindingKind
  /** A link that was ended, and stays stored as such. */
  readonly isEnded?: true
  /** The owner end is a note of what was to be linked: repair drops it, and never adds the link. */
  readonly isNote?: true
}

/** Verifies the links that a strategy stores in one record. */
export interface LinkVerification {
  /** Reads the first keys that the record holds, or those from `from` on (that one included, if it is still there): one key or a list. */
  readKeys(count: number, from?: UserKey): ReadOperation
  /** Property and bin of the list or map of keys, where the record stores one. */
  readonly list?: { readonly property: string; readonly bin: string }
  /** Single key that the record stores: its property, and what is wrong with what is stored in its place. */
  readonly single?: { readonly property: string; problem(here: RecordKey, stored: unknown): SkeinError | undefined }
  /** Records that hold the keys, if the record itself does not. */
  readonly apart?: MemberStore
  /** The link from this record to the one under a key that it holds. */
  link(here: RecordKey, other: UserKey): StoredLink
  /** The end of the link that the record with the keys is. */
  readonly side: 'owner' | 'mirror'
}
