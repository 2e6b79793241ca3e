import type { KeyValue } from '../../keys/index.js'
import { declaredKey } from '../../model/declaration.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Binding } from '../contract/binding.js'
import { ListsToTell, RefChange } from './lists-to-tell.js'
import { isEntity, type Member } from '../contract/member.js'
import type { Known } from './ref-knowledge.js'
import { rememberFields } from './remember-fields.js'

/** Another one for each change of a reference. */
let lastRevision = 0

/** Work of the session with a reference that is not done yet. */
interface UnderWay {
  /** The revision that a flush is sending: what was changed since is not settled by its answer. */
  readonly sent?: number
  /** Rollback of the change that `explain` shows, and the revision that it made. */
  readonly preview?: { readonly putBack: () => void; readonly made: number }
}

/** Target of a Ref and the key stored for it, without regard to the other side. */
export abstract class RefTarget {
  // Ordinary fields, which `rememberFields` finds: all of them are put back when a transaction is undone.
  protected points: Member | null = null
  private inRecord: KeyValue | null = null
  protected knows: Known = 'read'
  protected change: RefChange | undefined
  #binding: Binding | undefined
  /** Number of the last change. */
  #revision = 0
  #underWay: UnderWay | undefined
  #noted: { readonly target: Member | null; readonly key: KeyValue } | undefined

  get binding(): Binding | undefined {
    return this.#binding
  }

  bind(binding: Binding): void {
    this.#binding = binding
    binding.tracked.relinked?.()
  }

  get target(): Member | null {
    return this.points
  }

  /** Lists of other records that still have to be updated. */
  get lists(): ListsToTell {
    return (this.changing.lists ??= new ListsToTell())
  }

  /** The key in the record, as far as the session knows. */
  get stored(): KeyValue | null {
    return this.inRecord
  }

  /** Key that the last write replaced: restored when the new owner turns out to be gone. */
  get previousKey(): KeyValue | null {
    return this.change?.replaced ?? null
  }

  /** The change may have reached the record at the other end, and not yet this one: it is carried through, and not forgotten. */
  get isPartlySent(): boolean {
    return this.change?.isPartlySent === true
  }

  /** True if the reference itself was set to null, rather than the entity removed from a collection. */
  get isCleared(): boolean {
    return this.change?.isCleared === true
  }

  /** True if the entity was taken out of the collection it is in, as far as the session knows, and put nowhere else. */
  get isTakenOut(): boolean {
    return this.isRead && this.points === null && this.stored !== null && !this.isCleared
  }

  /** False while the bin was not read (`only`), and nobody has set it. */
  get isRead(): boolean {
    return this.knows !== 'unread'
  }

  /** True once the stored key was read, or written. */
  get isStoredKnown(): boolean {
    return this.knows === 'read' || this.knows === 'missing'
  }

  /** True if it was set to null while the stored key is unread. */
  get isBlind(): boolean {
    return this.knows === 'setBlind' && this.points === null
  }

  get key(): KeyValue | null {
    const { target, binding } = this
    // Not read yet, but if there is one, it has the same key.
    if (!this.isRead && binding?.strategy.meet !== undefined) return binding.reader.keyOf(binding.tracked.entity)
    if (!isEntity(target)) return target
    const noted = this.#noted?.target === target ? this.#noted.key : undefined
    return binding?.reader.keyOf(target, binding.relation.target) ?? noted ?? declaredKey(target)
  }

  /** Notes the key of its target as a session knows it, for a reference that belongs to none: the target's class alone may not tell it. */
  noteKey(key: KeyValue): void {
    this.#noted = { target: this.points, key }
  }

  /** True when the record does not say what the entity says, or a list does not yet. */
  get isChanged(): boolean {
    return !this.isStored || this.change?.lists?.isEmpty === false
  }

  get isStored(): boolean {
    if (!this.isRead) return true
    if (this.isBlind || this.change?.isInDoubt === true) return false
    const { target, stored } = this
    if (target === null) return stored === null
    if (stored === null) return false
    const key = this.key
    return key !== null && userKeyId(key) === userKeyId(stored)
  }

  /** True when the record says so, as far as the session knows. */
  isStoredAs(key: KeyValue): boolean {
    return this.isRead && this.stored !== null && userKeyId(this.stored) === userKeyId(key)
  }

  /** True when it points there now. */
  isAt(key: KeyValue | null): boolean {
    const now = this.isRead ? this.key : null
    return now !== null && key !== null ? userKeyId(now) === userKeyId(key) : now === key
  }

  /** True when it points there, and that is not stored yet. */
  isUnsent(key: KeyValue): boolean {
    return !this.isStored && this.isAt(key)
  }

  /** Another session may have changed what the record holds: that is to be read again. */
  mustReread(): void {
    this.knows = 'unread'
  }

  /** Takes the stored key, read after the reference was set without it. */
  learnStored(key: KeyValue | null): void {
    if (this.knows === 'setBlind') this.know(key)
  }

  /** Takes the stored key, whatever was known; an unsent change stays. */
  knowStored(key: KeyValue | null): void {
    this.know(key)
  }

  /** True when the record at the other end may have what this one does not say yet. */
  notePartlySent(isPartlySent: boolean): void {
    if (isPartlySent !== this.isPartlySent) this.changing.isPartlySent = isPartlySent
  }

  /** A change that the record says is sent as a whole. */
  protected noteWhole(): void {
    if (this.isPartlySent) this.notePartlySent(!this.isStored)
  }

  protected get changing(): RefChange {
    return (this.change ??= new RefChange())
  }

  /** The key it holds has no record: it points to nothing, until somebody changes it. */
  lost(): void {
    this.points = null
    this.know(null)
  }

  /** True when its key was looked up and has no record. */
  lookedUp(isMissing: boolean): void {
    if (isMissing) this.knows = 'missing'
    else if (this.knows === 'missing') this.knows = 'read'
  }

  /** The other one under the same key was read; null where there is none. */
  meet(other: object | null): void {
    this.points = other
    this.knows = 'read'
    this.#binding?.tracked.relinked?.()
  }

  /** Corrects lists that wait for a change which was rolled back since. */
  reconsider(): void {
    if (this.isRead) this.change?.lists?.reconsider(this.key)
  }

  beginSending(): void {
    this.#underWay = { ...this.#underWay, sent: this.#revision }
  }

  endSending(): void {
    const preview = this.#underWay?.preview
    this.#underWay = preview && { preview }
  }

  /** Nothing was changed since a flush began to send this. */
  protected get isAsSent(): boolean {
    return this.#underWay?.sent === this.#revision
  }

  /** All that was changed since a flush began is forgotten, and its write is not. */
  protected forgetSinceSent(): void {
    this.#revision = this.#underWay?.sent ?? this.#revision
  }

  /** Returns a function that restores the current state. */
  remember(): () => void {
    const restore = rememberFields(this)
    return () => {
      restore()
      this.#binding?.tracked.relinked?.()
    }
  }

  /** Makes a change for a plan, and returns its rollback: false where it was changed or stored since, and stays. */
  tentatively(change: () => void, isPreview = false): () => boolean {
    const [putBack, { inRecord }] = [this.remember(), this]
    change()
    const made = this.#revision
    if (isPreview) this.#underWay = { ...this.#underWay, preview: { putBack, made } }
    return () => {
      if (isPreview) this.#underWay = { ...this.#underWay, preview: undefined }
      if (this.#revision !== made || this.inRecord !== inRecord) return false
      putBack()
      return true
    }
  }

  /** Answers as if `explain`, which may be waiting for a read, had changed nothing. */
  asShown<T>(ask: () => T): T {
    const preview = this.#underWay?.preview
    if (preview?.made !== this.#revision) return ask()
    const changed = this.remember()
    preview.putBack()
    try {
      return ask()
    } finally {
      changed()
    }
  }

  /** Nothing is stored for it: what it points to is still to be written. */
  startAnew(): void {
    if (!this.isRead) this.points = null
    this.know(null)
    this.notePartlySent(false)
    this.change?.lists?.clear()
  }

  /** The entity that was loaded for the key. */
  resolve(entity: object): void {
    this.points = entity
  }

  protected know(key: KeyValue | null): void {
    this.inRecord = key
    this.knows = 'read'
    if (this.change !== undefined) this.change.isInDoubt = false
    this.#binding?.tracked.relinked?.()
  }

  /** Clears the target. A reference that was set unread becomes unread again, unless its change is partly sent. */
  protected dropTarget(): void {
    const isUnread = this.knows === 'setBlind' && !this.isPartlySent
    this.assign(null)
    if (isUnread) this.knows = 'unread'
  }

  protected assign(target: Member | null): void {
    const { key, isPartlySent } = this
    this.points = target
    this.#revision = ++lastRevision
    this.#binding?.tracked.relinked?.()
    if (isPartlySent && !this.isAt(key)) this.#rollBack(key)
    this.knows = this.isStoredKnown ? 'read' : 'setBlind'
    if (this.change !== undefined) this.change.isCleared = false
  }

  /** Lists that the change has reached already still have to drop it. */
  #rollBack(key: KeyValue | null): void {
    this.notePartlySent(false)
    if (key !== null) this.lists.mustLeave(key)
  }
}
