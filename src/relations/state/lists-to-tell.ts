import type { KeyValue } from '../../keys/index.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { REMEMBER, rememberFields } from './remember-fields.js'

/** Owners that have to hear of a change: one takes the entity, others drop it. */
interface OwnersToTell {
  readonly toJoin: KeyValue | undefined
  readonly toLeave: ReadonlyMap<string, KeyValue>
}

/** The lists that do not name an entity yet, or still name it, though its own record says otherwise. */
export class ListsToTell implements OwnersToTell {
  readonly #data: { toJoin: KeyValue | undefined; toLeave: Map<string, KeyValue> | undefined } = {
    toJoin: undefined,
    toLeave: undefined,
  }

  /** The owner whose list still has to take the entity. */
  get toJoin(): KeyValue | undefined {
    return this.#data.toJoin
  }

  /** Owners whose lists still have to drop the entity. */
  get toLeave(): ReadonlyMap<string, KeyValue> {
    return this.#data.toLeave ?? NONE
  }

  get isEmpty(): boolean {
    return this.#data.toJoin === undefined && this.toLeave.size === 0
  }

  /** The lists that have to hear of it when the record names that owner, and no longer the one it does now. */
  whenMoved(owner: KeyValue | null, stored: KeyValue | null): OwnersToTell {
    const toLeave = new Map(this.toLeave)
    for (const former of [stored, this.toJoin]) if (former != null) toLeave.set(userKeyId(former), former)
    if (owner !== null) toLeave.delete(userKeyId(owner))
    return { toJoin: owner ?? undefined, toLeave }
  }

  /** Noted until it is done: once the record says otherwise, nobody else remembers. */
  note({ toJoin, toLeave }: OwnersToTell): void {
    this.#data.toJoin = toJoin
    this.#data.toLeave = new Map(toLeave)
  }

  /** The list has taken it, or is not there to do so. */
  joined(): void {
    this.#data.toJoin = undefined
  }

  mustLeave(owner: KeyValue): void {
    this.#data.toLeave ??= new Map()
    this.#data.toLeave.set(userKeyId(owner), owner)
  }

  left(owner: KeyValue): void {
    this.#data.toLeave?.delete(userKeyId(owner))
  }

  /** Lists may be waiting for a change that was rolled back since: only the owner that the record names keeps its entry. */
  reconsider(owner: KeyValue | null): void {
    const { toJoin } = this.#data
    if (toJoin !== undefined && (owner === null || userKeyId(toJoin) !== userKeyId(owner))) {
      this.mustLeave(toJoin)
      this.joined()
    }
    if (owner !== null && this.#data.toLeave?.delete(userKeyId(owner)) === true) this.#data.toJoin = owner
  }

  /** Drops an owner that is deleted. */
  forget(owner: KeyValue): void {
    const { toJoin } = this.#data
    if (toJoin !== undefined && userKeyId(toJoin) === userKeyId(owner)) this.joined()
    this.left(owner)
  }

  clear(): void {
    this.#data.toJoin = undefined
    this.#data.toLeave = undefined
  }

  /** Returns a function that restores the current state. */
  [REMEMBER](): () => void {
    return rememberFields(this.#data)
  }
}

const NONE: ReadonlyMap<string, KeyValue> = new Map()

/** How far a change of a reference has come; absent while nothing but its target tells of it. */
export class RefChange {
  /** The reference itself was set to null, rather than the entity removed from a collection. */
  isCleared = false
  /** The record at the other end may have the change, and this one not yet. */
  isPartlySent = false
  /** The answer to the write of the reference was lost: its record may name either of both. */
  isInDoubt = false
  /** Key that the last write replaced. */
  replaced: KeyValue | null = null
  /** The record named the key before the last write did: another session has set it, and rolls that back where the owner is gone. */
  isOthers = false
  lists: ListsToTell | undefined;

  /** Returns a function that restores the current state. */
  [REMEMBER](): () => void {
    return rememberFields(this)
  }
}

/** Former parent of a member. */
export interface Former {
  readonly member: RecordKey
  readonly parent: UserKey
}

/** Parents that members were taken from and whose lists still name them: once the child says otherwise, nobody else remembers where it was. */
export class PreviousParents {
  readonly #data: { byMember: Map<string, Former> | undefined } = { byMember: undefined }

  get size(): number {
    return this.#data.byMember?.size ?? 0
  }

  get all(): readonly Former[] {
    return [...(this.#data.byMember?.values() ?? [])]
  }

  has(member: RecordKey): boolean {
    return this.of(member) !== undefined
  }

  /** The former parent of a member. */
  of({ key }: RecordKey): UserKey | undefined {
    return this.#data.byMember?.get(userKeyId(key))?.parent
  }

  /** Until it is done. */
  note(former: Former): void {
    this.#data.byMember ??= new Map()
    this.#data.byMember.set(userKeyId(former.member.key), former)
  }

  /** The list does not name the member any more; another former parent that was noted since stays. */
  done(former: Former): void {
    const id = userKeyId(former.member.key)
    if (this.#data.byMember?.get(id) === former) this.#data.byMember.delete(id)
  }

  /** The member goes back to where it was. */
  forget(member: RecordKey): void {
    this.#data.byMember?.delete(userKeyId(member.key))
  }

  clear(): void {
    this.#data.byMember = undefined
  }

  /** Returns a function that restores the current state. */
  [REMEMBER](): () => void {
    return rememberFields(this.#data)
  }
}
