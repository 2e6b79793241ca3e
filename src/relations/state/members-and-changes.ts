import type { KeyValue } from '../../keys/index.js'
import type { UserKey } from '../../plan/record-key.js'
import type { DeletedKeys } from '../contract/deleted-keys.js'
import { isEntity, type Member } from '../contract/member.js'
import { LinkValues } from './relation-side.js'
import { holdForChange } from './held-for-change.js'
import { KeyedMembers, LoadedMembers } from './loaded-members.js'

/**
 * The members of a collection: what was loaded of them, and how each one that is to change does. People see the loaded members with the
 * changes on top. `MemberChange` has the states of a member; `afterAdd` and `afterRemove` have the ways between them.
 */
export abstract class MembersAndChanges {
  // Ordinary fields, which `rememberFields` finds: all of them are put back when a transaction is undone.
  protected readonly changes = new MemberChanges()
  /** Stored members, as far as they were read. */
  readonly loaded = new LoadedMembers()
  /** Attributes of links, as far as they are known. */
  readonly links = new LinkValues((member) => this.keyOf(member))
  /** Changes as a flush is sending them: one that was replaced since is not settled by its answer. */
  #inFlight: Set<MemberChange> | undefined
  /** Rollback of each change of an `explain` that is under way. */
  readonly #previews = new Set<() => void>()

  /** All members are known and at hand. */
  get isLoaded(): boolean {
    return this.loaded.members !== undefined && this.members.every(isEntity)
  }

  /** The loaded members with the changes on top; a bare key among them is not loaded itself. */
  get members(): Member[] {
    const stored = this.loaded.members
    if (this.changes.size === 0) return [...(stored ?? [])]
    const left = new Set(this.removed.map((member) => stored?.get(member)))
    const kept = left.size === 0 ? [...(stored ?? [])] : [...(stored ?? [])].filter((member) => !left.has(member))
    const added = [...this.changes].filter(({ kind, member }) => kind === 'added' && stored?.has(member) !== true)
    return [...kept, ...added.map(({ member, shown }) => shown ?? member)]
  }

  get added(): Member[] {
    return this.changes.added
  }

  get addedEntities(): object[] {
    return this.added.filter(isEntity)
  }

  /** Keys of added members whose entities are not loaded. */
  get addedKeys(): KeyValue[] {
    return this.added.filter((member): member is KeyValue => !isEntity(member))
  }

  get removed(): Member[] {
    return this.changes.removed
  }

  isAdded(member: Member): boolean {
    return this.changes.get(member)?.kind === 'added'
  }

  isRemoved(member: Member): boolean {
    const kind = this.changes.get(member)?.kind
    return kind !== undefined && kind !== 'added'
  }

  /** To be changed, either way. */
  isMarked(member: Member): boolean {
    return this.changes.has(member)
  }

  /** Taken out before anything of it was sent. */
  isOrphaned(member: Member): boolean {
    return this.changes.get(member)?.kind === 'orphaned'
  }

  isPartlySent(member: Member): boolean {
    return this.changes.get(member)?.isPartlySent === true
  }

  /** Taken out and added again: the new link is instead of the one that is stored. */
  isReplaced(member: Member): boolean {
    return this.changes.get(member)?.isReplaced === true
  }

  /** The member as it was added. */
  findAdded(key: KeyValue): Member | undefined {
    const change = this.changes.get(key)
    return change?.kind === 'added' ? change.member : undefined
  }

  keyOf(member: Member): KeyValue | null {
    return this.changes.keyOfMember(member)
  }

  /** Keys of those that it may know of: all of them during a load, because a read under way may bring any. */
  linkedAmong(keys: DeletedKeys): Iterable<KeyValue> {
    if (this.loaded.isLoading) return keys
    return keys.among(this.#linkCount, () => this.#linkIds())
  }

  /** Ids of those keys; undefined where one is not known, or there are more than `most`. */
  linkIds(most: number): readonly string[] | undefined {
    const { changes, loaded, links } = this
    const isUnknown = loaded.isLoading || loaded.bin !== undefined || changes.hasKeyless || links.hasKeyless
    return isUnknown || this.#linkCount > most ? undefined : this.#linkIds()
  }

  get #linkCount(): number {
    return this.changes.size + (this.loaded.members?.size ?? 0) + this.links.size
  }

  #linkIds(): readonly string[] {
    return [...this.changes.ids, ...(this.loaded.members?.ids ?? []), ...this.links.ids]
  }

  /** Returns where the load begins; each one must end. */
  beginLoad(): number {
    this.relinked()
    return this.loaded.beginLoad()
  }

  /** Links of it may lead to others than before. */
  protected abstract relinked(): void

  /** Notes a change as it is, for a strategy that keeps its members itself. */
  mark(member: Member, kind: ChangeKind | undefined): void {
    const isReplaced = kind === 'added' && this.changes.get(member)?.kind === 'removed'
    this.changes.delete(member)
    if (kind !== undefined) this.changes.put({ kind, member, isPartlySent: false, ...(isReplaced && { isReplaced }) })
    this.relinked()
  }

  beginSending(): void {
    this.#inFlight = new Set(this.changes)
  }

  endSending(): void {
    this.#inFlight = undefined
  }

  /** All records say now that it is a member. */
  confirmAdded(member: Member): void {
    this.#confirm(member, true)
  }

  /** No record says any more that it is a member. */
  confirmRemoved(member: Member): void {
    this.#confirm(member, false)
  }

  /** Marks the change as partly sent: one of its records may have it by now. */
  notePartlySent(member: Member, replaced?: UserKey | null): void {
    const change = this.changes.get(member)
    if (change !== undefined)
      this.replace(change, { ...change, isPartlySent: true, ...(replaced !== undefined && { replaced }) })
  }

  /** The parent that a member had before a change of which that is known; undefined where none was sent. */
  replacedBy(member: Member): UserKey | null | undefined {
    const change = this.changes.get(member)
    return change?.isPartlySent === true ? (change.replaced ?? null) : undefined
  }

  /** Notes that its records are as they were before the change. */
  turnedBack(member: Member): void {
    const change = this.changes.get(member)
    if (change !== undefined) this.replace(change, { ...change, isPartlySent: false })
  }

  /** Makes a change of one member for a plan, and returns its rollback, which does nothing if the member was changed again since. */
  tentatively(member: Member, change: () => void, isPreview = false): () => void {
    const { changes } = this
    const [before, link] = [changes.get(member), this.links.get(member)]
    change()
    const made = changes.get(member)
    const putBack = (): void => {
      if (made === before || changes.get(member) !== made) return
      if (before === undefined) changes.delete(member)
      else changes.put(before)
      if (link !== undefined) this.links.set(member, link)
      this.relinked()
    }
    if (isPreview) this.#previews.add(putBack)
    return () => {
      this.#previews.delete(putBack)
      putBack()
    }
  }

  /** Answers as if `explain`, which may be waiting for a read, had changed nothing. */
  asShown<T>(ask: () => T): T {
    if (this.#previews.size === 0) return ask()
    const changed = this.remember()
    for (const putBack of [...this.#previews].reverse()) putBack()
    try {
      return ask()
    } finally {
      changed()
    }
  }

  /** Returns a function that restores the current state. */
  abstract remember(): () => void

  protected change(member: Member, kind: ChangeKind | undefined, isAnew = false): void {
    const { changes } = this
    const before = changes.get(member)
    this.relinked()
    this.loaded.dropBin()
    if (isEntity(member)) holdForChange(member)
    if (kind === undefined) return void changes.delete(member)
    if (before === undefined) return changes.put({ kind, member, isPartlySent: false })
    const now = isEntity(before.member) ? before.member : member
    if (before.kind === kind && !isAnew) return this.replace(before, { ...before, member: now })
    const isReplaced = kind === 'added' && (before.kind === 'removed' || before.isReplaced === true)
    // A change in flight may be stored by then, and its answer does not belong to this change.
    changes.put({ kind, member: now, isPartlySent: this.isUnderWay(before), ...(isReplaced && { isReplaced }) })
  }

  /** Replaces a change by one with more known of it. */
  protected replace(before: MemberChange, after: MemberChange): void {
    this.changes.put(after)
    this.relinked()
    if (this.#inFlight?.has(before)) this.#inFlight.add(after)
    if (isEntity(after.member)) holdForChange(after.member)
  }

  #confirm(member: Member, isMember: boolean): void {
    const change = this.changes.get(member)
    this.relinked()
    this.loaded.confirm(isEntity(member) ? member : (change?.shown ?? change?.member ?? member), isMember)
    if (change === undefined || (change.kind === 'added') !== isMember) return
    const isOvertaken = this.#inFlight !== undefined && !this.#inFlight.has(change)
    if (!isOvertaken) this.changes.delete(member)
  }

  /** Partly sent, or being sent: what is stored is not known until that is settled. */
  protected isUnderWay(change: MemberChange): boolean {
    return change.isPartlySent || this.#inFlight?.has(change) === true
  }
}

/**
 * `added`: to be stored as a member. `removed`: to be taken out of what is stored.
 * `orphaned`: added here and taken out before that was sent; where orphans are deleted, it is one.
 */
export type ChangeKind = 'added' | 'removed' | 'orphaned'

/** Change of a member of a collection. Never modified, so that a plan can tell whether it is still the same. */
interface MemberChange {
  readonly kind: ChangeKind
  readonly member: Member
  /** The change may have reached one of the records it concerns, and not yet all: it is carried through, or turned back, but never forgotten. */
  readonly isPartlySent: boolean
  /** The parent that the member had before, where the rollback of the change was not answered. */
  readonly replaced?: UserKey | null
  /** Set where it was taken out before it was added: a stored link to it may be somewhere else than the new one. */
  readonly isReplaced?: boolean
  /** The instance to show for a member that is known by its key alone since it was detached. */
  readonly shown?: object
}

/** The changes of a collection by member, in the order they were made. */
class MemberChanges extends KeyedMembers<MemberChange> {
  protected memberOf({ member }: MemberChange): Member {
    return member
  }

  /** The members that are to be stored. */
  get added(): Member[] {
    return this.#of((kind) => kind === 'added')
  }

  /** The members that are to be taken out, and those that were before they were stored. */
  get removed(): Member[] {
    return this.#of((kind) => kind !== 'added')
  }

  #of(isWanted: (kind: ChangeKind) => boolean): Member[] {
    if (this.size === 0) return []
    const members: Member[] = []
    for (const { kind, member } of this) if (isWanted(kind)) members.push(member)
    return members
  }
}
