import type { KeyValue } from '../../../keys/index.js'
import { accumulates } from '../../../plan/effects.js'
import type { WriteOperation } from '../../../plan/operation.js'
import { userKeyId } from '../../../plan/record-key.js'
import type { MapKey } from '../../../plan/value.js'
import { rememberMap } from '../../state/remember-fields.js'

/** Operations on one stored child that handles have recorded. */
export interface RecordedChange {
  readonly id: KeyValue
  readonly place: MapKey
  readonly operations: readonly WriteOperation[]
}

/** Changes of single children that handles have recorded and no flush has sent yet, in their order. */
export class RecordedChanges {
  readonly #changes = new Map<string, RecordedChange>()

  get isEmpty(): boolean {
    return this.#changes.size === 0
  }

  get all(): readonly RecordedChange[] {
    return [...this.#changes.values()]
  }

  of(id: KeyValue): readonly WriteOperation[] {
    return this.#changes.get(userKeyId(id))?.operations ?? []
  }

  /** Returns its rollback. */
  add(id: KeyValue, place: MapKey, operation: WriteOperation): () => void {
    this.#changes.set(userKeyId(id), { id, place, operations: [...this.of(id), operation] })
    return () => this.#keep(id, place, (each) => each !== operation)
  }

  /** Drops operations that were sent; others may have been recorded since. */
  sent({ id, place, operations }: RecordedChange): void {
    this.#keep(id, place, (each) => !operations.includes(each))
  }

  /** The answer was lost: what is never sent twice is dropped, the rest is sent again. */
  doubted({ id, place, operations }: RecordedChange): void {
    this.#keep(id, place, (each) => !operations.includes(each) || !accumulates(each))
  }

  clear(): void {
    this.#changes.clear()
  }

  /** Returns a function that restores the current state. */
  remember(): () => void {
    return rememberMap(this.#changes)
  }

  #keep(id: KeyValue, place: MapKey, isKept: (operation: WriteOperation) => boolean): void {
    const operations = this.of(id).filter(isKept)
    if (operations.length === 0) this.#changes.delete(userKeyId(id))
    else this.#changes.set(userKeyId(id), { id, place, operations })
  }
}
