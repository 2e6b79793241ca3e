import { SkeinError } from '../../errors/index.js'
import { describeKey, type KeyValue } from '../../keys/index.js'
import { declaredKey } from '../../model/declaration.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Binding } from '../contract/binding.js'
import type { DeletedKeys } from '../contract/deleted-keys.js'
import { isEntity, type Member } from '../contract/member.js'
import { RefTarget } from './ref-target.js'
import { checkMember, nameOf } from '../contract/relation-errors.js'
import { otherSide, type Knowledge, type RelationSide } from './relation-side.js'

/** The reference of an entity, in step with the other sides where the session has them. */
export class RefState extends RefTarget implements RelationSide {
  get isLoaded(): boolean {
    if (!this.isRead) return false
    if (this.target === null || this.knows === 'missing' || isEntity(this.target)) return true
    // The session may have met the entity on another way.
    const known = this.binding?.reader.known(this.binding.relation.target, this.target)
    if (known === undefined || known.shownState === 'removed' || known.isUnread) return false
    this.points = known.entity
    return true
  }

  get value(): object | null {
    if (this.isLoaded) return this.knows === 'missing' ? null : (this.target as object | null)
    const key = this.isRead ? (this.target as KeyValue) : undefined
    const { binding } = this
    const name = binding === undefined ? '' : ` ${nameOf(binding)}`
    const to = key === undefined ? '' : ` to ${describeKey(key)}`
    throw new SkeinError('SKEIN_2401', `The reference${name}${to} is not loaded.`, {
      className: binding && (binding.className ?? binding.tracked.model.name),
      property: binding?.relation.name,
      key,
      fix: 'Call await ref.load() first, or name the relation in { with: […] } when loading.',
    })
  }

  /** The user's own change: the other sides that are at hand show it too. */
  set(given: Member | null): void {
    const { target: before, binding } = this
    if (binding !== undefined && given !== null) checkMember(given, binding)
    const isDetached = isEntity(given) && binding?.reader.isDetached(given) === true
    const target = isDetached ? (binding.reader.keyOf(given, binding.relation.target) ?? given) : given
    binding?.strategy.accept?.(binding.tracked, target, binding.reader)
    this.assign(target)
    if (target === null) this.changing.isCleared = true
    if (binding === undefined || before === target) return
    this.#show(before, 'removeFromInverse')
    this.#show(target, 'addFromInverse')
    if (target !== null && !isEntity(target)) this.#await(target, binding)
  }

  /** The other side shows the change as soon as the session has it. */
  #await(key: KeyValue, { reader, relation, tracked }: Binding): void {
    if (relation.inverse === undefined || reader.known(relation.target, key) !== undefined) return
    reader.whenKnown(relation.target, key, (entity) => {
      if (this.target !== key || tracked.state === 'gone' || this.isStored) return
      this.points = entity
      this.#show(entity, 'addFromInverse')
    })
  }

  /** The record of the one it left still says so: it shows that no more as soon as the session has it. */
  #leaveLater(key: KeyValue, { reader, relation, tracked }: Binding): void {
    if (relation.bin === undefined || !this.isStoredAs(key)) return
    reader.whenKnown(relation.target, key, (entity) => {
      if (tracked.state !== 'gone' && !this.isStored && !this.isAt(key)) this.#show(entity, 'removeFromInverse')
    })
  }

  /** A change made on the other side, which knows of it already. */
  addFromInverse(owner: object): void {
    const before = this.target
    const isThere = before === owner || this.#isKeyOf(owner)
    this.assign(owner)
    if (!isThere) this.#show(before, 'removeFromInverse')
  }

  removeFromInverse(owner: object): void {
    if (this.target === owner || this.#isKeyOf(owner)) this.dropTarget()
  }

  restore(owner: object): void {
    this.revert(owner)
  }

  withdraw(owner: object): void {
    this.revert(owner)
  }

  mayHave(owner: object): boolean {
    return this.mayBeAt(owner)
  }

  wordOf(owner: KeyValue): Knowledge {
    if (!this.isStoredKnown) return 'unknown'
    return this.isStoredAs(owner) ? 'stored' : 'elsewhere'
  }

  /** True when it points there, or may do so for all that is known. */
  mayBeAt(owner: object): boolean {
    return !this.isRead || this.target === owner || this.#isKeyOf(owner)
  }

  /** Discards an unsent reference to an entity that is to be deleted. */
  rollback(key: KeyValue): void {
    if (this.isUnsent(key)) this.dropTarget()
  }

  /** The entity of that key is deleted: nothing points to it any more. */
  forget(key: KeyValue): void {
    if (this.isAt(key)) this.dropTarget()
    if (this.isStoredAs(key)) this.know(null)
    this.lists.forget(key)
  }

  /** The entity of that key is deleted softly: the record still names it, and only its key is known. */
  hide(key: KeyValue): void {
    if (this.isAt(key)) this.points = key
  }

  /** Marks the bin as unread and discards an unsent target. */
  unread(): void {
    if (!this.isPartlySent) this.points = null
    this.knows = 'unread'
  }

  /** The key in the record is known to be this one now. `restoresOthers`: what was changed is forgotten, also at the other ends. */
  takeStored(key: KeyValue | null, restoresOthers = false): void {
    const before = this.target
    this.know(key)
    if (!this.isPartlySent) this.points = key
    this.noteWhole()
    this.forgetSinceSent()
    if (this.isStored) {
      this.#rollbackFrom(before)
      if (restoresOthers) this.#restoreOthers()
    }
    this.reconsider()
  }

  /** Keys of those that it points to, or whose lists have to hear of a change. */
  linkedAmong(keys: DeletedKeys): Iterable<KeyValue> {
    return keys.among(3 + (this.change?.lists?.toLeave.size ?? 0), () => this.#linkIds())
  }

  /** Ids of those keys; undefined where one is not known, or there are more than `most`. */
  linkIds(most: number): readonly string[] | undefined {
    if (isEntity(this.points) && this.key === null) return undefined
    const ids = this.#linkIds()
    return ids.length > most ? undefined : ids
  }

  #linkIds(): readonly string[] {
    const { toJoin, toLeave } = this.change?.lists ?? {}
    const ends = [this.isRead ? this.key : null, this.stored, toJoin ?? null].filter((key) => key !== null)
    return [...ends.map(userKeyId), ...(toLeave?.keys() ?? [])]
  }

  /** True when the last write changed nothing: another session had set the same key before. */
  get isOthers(): boolean {
    return this.change?.isOthers === true
  }

  /** The write that says so has taken effect, and replaced that key. */
  confirm(key: KeyValue | null, before: KeyValue | null = null): void {
    this.#noteReplaced(key, before)
    this.know(key)
    this.notePartlySent(false)
    if (!this.isAsSent || this.isAt(key)) return
    // The record was read again while the write was under way, and before it.
    this.points = key
    this.#show(key, 'addFromInverse')
  }

  /** A record that named the key already was written by another session, or by an earlier write of this one whose answer was lost. */
  #noteReplaced(key: KeyValue | null, before: KeyValue | null): void {
    const isSame = key !== null && before !== null && userKeyId(key) === userKeyId(before)
    const isOthers = isSame && this.change?.isInDoubt !== true
    const replaced = isSame ? this.stored : before
    if (replaced !== this.previousKey) this.changing.replaced = replaced
    if (isOthers !== this.isOthers) this.changing.isOthers = isOthers
  }

  /** The answer to its write was lost: the record may name either of both until it is read or written again. */
  doubtStored(): void {
    this.changing.isInDoubt = true
  }

  /** The record of one end of a pair says so now; an entity that did not know of it does. */
  confirmPair(key: KeyValue | null): void {
    const wasStored = this.isStored
    const isOwn = this.isAsSent
    this.know(key)
    if ((wasStored || isOwn) && !this.isStored) this.points = key
    this.noteWhole()
  }

  /** The owner is gone, and the record points again where it did before. */
  wentBack(before: KeyValue | null): void {
    this.know(before)
    this.#stayListed(before)
  }

  /** The owner is gone, and another session decides where the record points: the change is as unsent as before. */
  leftToOthers(before: KeyValue | null): void {
    this.know(null)
    this.knows = 'setBlind'
    this.#stayListed(before)
  }

  #stayListed(owner: KeyValue | null): void {
    this.lists.joined()
    if (owner !== null) this.lists.left(owner)
  }

  /** The entity is detached: the others forget its change. */
  forgetAtOthers(): void {
    if (this.isStored || this.isPartlySent) return
    const putBack = this.remember()
    this.takeStored(this.stored, true)
    putBack()
  }

  /** Replaces a detached target by its key. */
  keepKey(key: KeyValue): void {
    if (!this.isStored && this.isAt(key)) this.points = key
  }

  /** The other end has forgotten that it took this one, or dropped it: it points again where the record does. */
  revert(owner: object): void {
    if (this.isPartlySent || !this.isRead) return
    if (this.knows === 'setBlind' && this.mayBeAt(owner)) return this.dropTarget()
    const key = this.binding?.reader.keyOf(owner, this.binding.relation.target) ?? null
    const isLeft = this.target === null && key !== null && this.isStoredAs(key)
    if (!isLeft && (this.isStored || !this.mayBeAt(owner))) return
    this.assign(isLeft ? owner : this.stored)
    if (!isLeft) this.#restoreOthers()
  }

  /** Removes it from the collection of the discarded target. */
  #rollbackFrom(before: Member | null): void {
    const owner = this.#entityAt(before)
    if (owner === undefined || this.#isKeyOf(owner)) return
    const { relation, tracked } = this.binding!
    otherSide(relation, owner)?.withdraw(tracked.entity)
  }

  /** Shows it again on its stored owner, which had dropped it; not on a partner that has another one by now. */
  #restoreOthers(): void {
    const owner = this.#entityAt(this.target)
    if (owner === undefined) return
    const { relation, tracked } = this.binding!
    const other = otherSide(relation, owner)
    other?.restore(tracked.entity)
    if (other?.mayHave(tracked.entity) === false) this.points = null
  }

  /** The entity at the other end, where the session has it. */
  #entityAt(end: Member | null): object | undefined {
    const { binding } = this
    if (binding?.relation.inverse === undefined || end === null) return undefined
    return isEntity(end) ? end : binding.reader.known(binding.relation.target, end)?.entity
  }

  #isKeyOf(owner: object): boolean {
    const { target, binding } = this
    if (target === null || isEntity(target)) return false
    const key = binding?.reader.keyOf(owner, binding.relation.target) ?? declaredKey(owner)
    return key !== null && userKeyId(key) === userKeyId(target)
  }

  #show(end: Member | null, change: 'addFromInverse' | 'removeFromInverse'): void {
    const { binding } = this
    if (binding?.relation.inverse === undefined || end === null) return
    const owner = this.#entityAt(end)
    if (owner !== undefined) otherSide(binding.relation, owner)?.[change](binding.tracked.entity)
    else if (change === 'removeFromInverse' && !isEntity(end)) this.#leaveLater(end, binding)
  }
}
