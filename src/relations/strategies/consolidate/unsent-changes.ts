import type { KeyValue } from '../../../keys/index.js'
import { userKeyId } from '../../../plan/record-key.js'
import type { ChangedPart, PartEdit, UnsentChange } from '../../contract/relation-strategy.js'
import { rememberMap } from '../../state/remember-fields.js'

/** Changes of children that handles have recorded: a child that is loaded before they are sent shows them. */
export class UnsentChanges {
  readonly #changes = new Map<string, readonly UnsentChange[]>()
  /** Changes that wait for the child to be read: an inverse index must know what was there before. */
  readonly #edits = new Map<string, readonly PartEdit[]>()

  add(id: KeyValue, change: UnsentChange): void {
    this.#changes.set(userKeyId(id), [...this.#left(id), change])
  }

  /** Shows them in a child as it was read; true where there were some. */
  showIn(id: KeyValue, part: object): boolean {
    if (this.#changes.size === 0) return false
    const left = this.#left(id)
    for (const { apply } of left) apply(part)
    if (left.length === 0) this.#changes.delete(userKeyId(id))
    return left.length > 0
  }

  get isEdited(): boolean {
    return this.#edits.size > 0
  }

  /** Children that have to be read. */
  get edited(): readonly KeyValue[] {
    return [...this.#edits.values()].map(([{ id }]) => id)
  }

  editsOf(id: KeyValue): readonly PartEdit[] {
    return this.#edits.get(userKeyId(id)) ?? []
  }

  edit(edit: PartEdit): void {
    this.#edits.set(userKeyId(edit.id), [...this.editsOf(edit.id), edit])
  }

  /** Makes the changes that have waited in a child that is read now; from here on they are changes of a loaded child. */
  editIn(id: KeyValue, part: object): void {
    if (this.#edits.size === 0) return
    const left = this.editsOf(id).filter(({ apply }) => !apply(part))
    if (left.length === 0) this.#edits.delete(userKeyId(id))
    else this.#edits.set(userKeyId(id), left)
  }

  /** Parts that they add inside children which are not loaded. */
  *added(): Iterable<ChangedPart> {
    for (const changes of this.#changes.values())
      for (const { added, isUnsent } of changes) if (added !== undefined && isUnsent()) yield added
    for (const edits of this.#edits.values()) for (const { added } of edits) if (added !== undefined) yield added
  }

  clear(): void {
    this.#changes.clear()
    this.#edits.clear()
  }

  /** Returns a function that restores the current state. */
  remember(): () => void {
    const restores = [rememberMap(this.#changes), rememberMap(this.#edits)]
    return () => restores.forEach((restore) => restore())
  }

  #left(id: KeyValue): readonly UnsentChange[] {
    return (this.#changes.get(userKeyId(id)) ?? []).filter(({ isUnsent }) => isUnsent())
  }
}
