import type { KeyValue } from '../../../keys/index.js'
import { userKeyId } from '../../../plan/record-key.js'
import type { ChangedPart, UnsentChange } from '../../contract/relation-strategy.js'
import { rememberMap } from '../../state/remember-fields.js'

/** Changes of children that handles have recorded: a child that is loaded before they are sent shows them. */
export class UnsentChanges {
  readonly #changes = new Map<string, readonly UnsentChange[]>()

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

  /** Parts that they add inside children which are not loaded. */
  *added(): Iterable<ChangedPart> {
    for (const changes of this.#changes.values())
      for (const { added, isUnsent } of changes) if (added !== undefined && isUnsent()) yield added
  }

  clear(): void {
    this.#changes.clear()
  }

  /** Returns a function that restores the current state. */
  remember(): () => void {
    return rememberMap(this.#changes)
  }

  #left(id: KeyValue): readonly UnsentChange[] {
    return (this.#changes.get(userKeyId(id)) ?? []).filter(({ isUnsent }) => isUnsent())
  }
}
