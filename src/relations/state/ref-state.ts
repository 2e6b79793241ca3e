import { readProperty } from '../../codec/index.js'
import { SkeinError } from '../../errors/index.js'
import { describeKey, type KeyValue } from '../../keys/index.js'
import { declaredKey } from '../../model/declared-key.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Binding } from '../contract/binding.js'
import { isEntity, type Member } from './member.js'
import { nameOf } from '../contract/relation-errors.js'
import { isCollection, isRef } from '../contract/relation-marker.js'
import { collectionStateOf, refStateOf } from './state-of.js'

/** What a Ref points to, what is stored for it, and what other records still have to be told of it. */
export class RefState {
  target: Member | null = null
  #stored: KeyValue | null = null
  /** It was given something to point to, or nothing, before anybody had read what the record holds. */
  #isUnread = false
  /** False while the bin was not read (`only`). */
  isRead = true
  /** The key was looked up and has no record. */
  isMissing = false
  binding: Binding | undefined
  /** Owners whose lists still have to drop the entity. */
  readonly listsToLeave = new Map<string, KeyValue>()
  /** What the last write replaced: the key to go back to when the new owner turns out to be gone. */
  previousKey: KeyValue | null = null
  /** The owner whose list still has to take the entity. */
  listToJoin: KeyValue | undefined
  /** The change may have reached the record at the other end, and not yet this one: it is carried through, and not forgotten. */
  isPartlySent = false
  /** It points to nothing because it was told so itself, not because a collection has let go of the entity. */
  isCleared = false

  /** The key in the record, as far as the session knows. */
  get stored(): KeyValue | null {
    return this.#stored
  }

  set stored(key: KeyValue | null) {
    this.#stored = key
    this.#isUnread = false
  }

  /** What the record holds was read, or written. */
  get isStoredKnown(): boolean {
    return this.isRead && !this.#isUnread
  }

  /** It points to nothing, and nobody has read what the record holds. */
  get isBlind(): boolean {
    return this.#isUnread && this.target === null
  }

  get key(): KeyValue | null {
    const { target, binding } = this
    // Not read yet, but if there is one, it has the same key.
    if (!this.isRead && binding?.strategy.meet !== undefined) return binding.reader.keyOf(binding.tracked.entity)
    if (!isEntity(target)) return target
    return this.binding?.reader.keyOf(target) ?? declaredKey(target)
  }

  get isLoaded(): boolean {
    if (!this.isRead) return false
    if (this.target === null || this.isMissing || isEntity(this.target)) return true
    // The session may have met the entity on another way.
    const known = this.binding?.reader.known(this.binding.relation.target, this.target)
    if (known === undefined || known.state === 'removed' || known.isUnread) return false
    this.target = known.entity
    return true
  }

  get value(): object | null {
    if (this.isLoaded) return this.isMissing ? null : (this.target as object | null)
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

  /** True when the record does not say what the entity says, or a list does not yet. */
  get isChanged(): boolean {
    return !this.isStored || this.listToJoin !== undefined || this.listsToLeave.size > 0
  }

  get isStored(): boolean {
    if (!this.isRead) return true
    if (this.isBlind) return false
    const { target, stored } = this
    if (target === null) return stored === null
    if (stored === null) return false
    const key = this.key
    return key !== null && userKeyId(key) === userKeyId(stored)
  }

  /** The user's own change: the other sides that are at hand show it too. */
  set(given: Member | null): void {
    const { target: before, binding } = this
    const isDetached = isEntity(given) && binding?.reader.isDetached(given) === true
    const target = isDetached ? (binding.reader.keyOf(given) ?? given) : given
    binding?.strategy.accept?.(binding.tracked, target, binding.reader)
    this.#assign(target)
    this.isCleared = target === null
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
      this.target = entity
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
  setFromInverse(owner: object): void {
    const before = this.target
    const isThere = before === owner || this.#isKeyOf(owner)
    this.#assign(owner)
    if (!isThere) this.#show(before, 'removeFromInverse')
  }

  clearFromInverse(owner: object): void {
    if (this.target === owner || this.#isKeyOf(owner)) this.#letGo()
  }

  /** Whether the record says so, as far as the session knows. */
  isStoredAs(key: KeyValue): boolean {
    return this.isRead && this.stored !== null && userKeyId(this.stored) === userKeyId(key)
  }

  /** Whether it points there now. */
  isAt(key: KeyValue | null): boolean {
    const now = this.isRead ? this.key : null
    return now !== null && key !== null ? userKeyId(now) === userKeyId(key) : now === key
  }

  /** Whether it points there, or may do so for all that is known. */
  mayBeAt(owner: object): boolean {
    return !this.isRead || this.target === owner || this.#isKeyOf(owner)
  }

  /** What it was pointed to is to be deleted before that was ever stored. */
  takeBack(key: KeyValue): void {
    if (this.isUnsent(key)) this.#letGo()
  }

  /** Whether it points there, and that is not stored yet. */
  isUnsent(key: KeyValue): boolean {
    return !this.isStored && this.isAt(key)
  }

  /** The entity of that key is deleted: nothing points to it any more. */
  forget(key: KeyValue): void {
    if (this.isAt(key)) this.#letGo()
    if (this.isStoredAs(key)) this.stored = null
    if (this.listToJoin !== undefined && userKeyId(this.listToJoin) === userKeyId(key)) this.listToJoin = undefined
    this.listsToLeave.delete(userKeyId(key))
  }

  /** What was read of the record does not say where it points: what it was set to, and is not stored, is forgotten. */
  unread(): void {
    if (!this.isPartlySent) this.target = null
    this.isRead = false
  }

  /** The record was read after the reference had been changed; undefined: not this of it. */
  learnStored(key: KeyValue | null | undefined): void {
    if (this.#isUnread && key !== undefined) this.stored = key
  }

  /** The key in the record is known to be this one now. `givesBack`: what was changed is forgotten, also at the other ends. */
  takeStored(key: KeyValue | null, givesBack = false): void {
    const before = this.target
    this.stored = key
    this.isRead = true
    this.isMissing = false
    if (!this.isPartlySent) this.target = key
    this.isPartlySent &&= !this.isStored
    if (this.isStored) {
      this.#takeBackFrom(before)
      if (givesBack) this.#giveBack()
    }
    this.reconsider()
  }

  /** The entity is let go of: the others forget its change. */
  forgetAtOthers(): void {
    if (this.isStored || this.isPartlySent) return
    const putBack = this.remember()
    this.takeStored(this.stored, true)
    putBack()
  }

  /** What it points to is let go of: it is known by its key from now on. */
  keepKey(key: KeyValue): void {
    if (!this.isStored && this.isAt(key)) this.target = key
  }

  /** The other end has forgotten that it took this one, or let it go: it points again where the record does. */
  revert(owner: object): void {
    if (this.isPartlySent || !this.isRead) return
    if (this.#isUnread && this.mayBeAt(owner)) return this.#letGo()
    const key = this.binding?.reader.keyOf(owner) ?? null
    const isLeft = this.target === null && key !== null && this.isStoredAs(key)
    if (!isLeft && (this.isStored || !this.mayBeAt(owner))) return
    this.#assign(isLeft ? owner : this.stored)
    if (!isLeft) this.#giveBack()
  }

  /** Lists may be waiting for a change that was taken back since: only the owner that the record names keeps its entry. */
  reconsider(): void {
    if (!this.isRead) return
    const { key, listToJoin, listsToLeave } = this
    const owner = key === null ? undefined : userKeyId(key)
    if (listToJoin !== undefined && userKeyId(listToJoin) !== owner) {
      listsToLeave.set(userKeyId(listToJoin), listToJoin)
      this.listToJoin = undefined
    }
    if (key !== null && listsToLeave.delete(owner!)) this.listToJoin = key
  }

  /** The owners that have to hear of it when the record says what the entity says: who takes the entity, and who drops it. */
  listsToTell(): Pick<RefState, 'listToJoin' | 'listsToLeave'> {
    const { key, stored, listToJoin } = this
    const listsToLeave = new Map(this.listsToLeave)
    for (const owner of [stored, listToJoin]) if (owner != null) listsToLeave.set(userKeyId(owner), owner)
    if (key !== null) listsToLeave.delete(userKeyId(key))
    return { listToJoin: key ?? undefined, listsToLeave }
  }

  noteLists(listToJoin: KeyValue | undefined, listsToLeave: ReadonlyMap<string, KeyValue>): void {
    this.listToJoin = listToJoin
    this.listsToLeave.clear()
    for (const [id, owner] of listsToLeave) this.listsToLeave.set(id, owner)
  }

  /** What puts everything back as it is now. */
  remember(): () => void {
    const { target, stored, isRead, isMissing, listToJoin, isPartlySent, isCleared } = this
    const isUnread = this.#isUnread
    const listsToLeave = new Map(this.listsToLeave)
    return () => {
      Object.assign(this, { target, stored, isRead, isMissing, isPartlySent, isCleared })
      this.#isUnread = isUnread
      this.noteLists(listToJoin, listsToLeave)
    }
  }

  /** Nothing is stored for it: what it points to is still to be written. */
  startAnew(): void {
    if (!this.isRead) this.target = null
    this.isRead = true
    this.stored = null
    this.listToJoin = undefined
    this.isPartlySent = false
    this.listsToLeave.clear()
  }

  /** The entity that was loaded for the key. */
  resolve(entity: object): void {
    this.target = entity
  }

  /** What was not read is again as it is stored, if nobody has been told otherwise. */
  #letGo(): void {
    const isUnread = this.#isUnread && !this.isPartlySent
    this.#assign(null)
    if (!isUnread) return
    this.#isUnread = false
    this.isRead = false
  }

  #assign(target: Member | null): void {
    const { key, isPartlySent } = this
    this.target = target
    if (isPartlySent && !this.isAt(key)) this.#turnBack(key)
    this.#isUnread ||= !this.isRead
    this.isRead = true
    this.isMissing = false
    this.isCleared = false
  }

  /** Whom the change has reached already still has to hear that it is not made. */
  #turnBack(key: KeyValue | null): void {
    this.isPartlySent = false
    if (key !== null) this.listsToLeave.set(userKeyId(key), key)
  }

  /** What it was pointed to, and is not, does not show it any more. */
  #takeBackFrom(before: Member | null): void {
    const [owner, other] = this.#otherSide(before)
    if (owner === undefined || this.#isKeyOf(owner)) return
    const { reader, tracked } = this.binding!
    const key = reader.keyOf(tracked.entity)
    if (isCollection(other) && key !== null) collectionStateOf(other).takeBack(key)
    else if (isRef(other)) refStateOf(other).revert(tracked.entity)
  }

  /** Whoever is stored as its owner, and had let it go, shows it again; a partner that has another one by now does not. */
  #giveBack(): void {
    const [, other] = this.#otherSide(this.target)
    const entity = this.binding?.tracked.entity
    if (isCollection(other)) collectionStateOf(other).revert(entity!)
    if (!isRef(other)) return
    const state = refStateOf(other)
    state.revert(entity!)
    if (!state.mayBeAt(entity!)) this.target = null
  }

  /** The entity at the other end, where the session has it, and its side of the relation. */
  #otherSide(end: Member | null): readonly [object | undefined, unknown] {
    const { binding } = this
    const inverse = binding?.relation.inverse
    if (binding === undefined || inverse === undefined || end === null) return [undefined, undefined]
    const owner = isEntity(end) ? end : binding.reader.known(binding.relation.target, end)?.entity
    return [owner, owner === undefined ? undefined : readProperty(owner, inverse)]
  }

  #isKeyOf(owner: object): boolean {
    const { target, binding } = this
    if (target === null || isEntity(target)) return false
    const key = binding?.reader.keyOf(owner) ?? declaredKey(owner)
    return key !== null && userKeyId(key) === userKeyId(target)
  }

  #show(end: Member | null, change: 'addFromInverse' | 'removeFromInverse'): void {
    const { binding } = this
    if (binding === undefined || end === null) return
    const { inverse } = binding.relation
    if (inverse === undefined) return
    const owner = isEntity(end) ? end : binding.reader.known(binding.relation.target, end)?.entity
    if (owner === undefined) {
      if (change === 'removeFromInverse' && !isEntity(end)) this.#leaveLater(end, binding)
      return
    }
    const other = readProperty(owner, inverse)
    if (isCollection(other)) collectionStateOf(other)[change](binding.tracked.entity)
    else if (isRef(other) && change === 'addFromInverse') refStateOf(other).setFromInverse(binding.tracked.entity)
    else if (isRef(other)) refStateOf(other).clearFromInverse(binding.tracked.entity)
  }
}
