import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { Reading } from './judge.js'

const MOST = 10_000

/** The records that a run has repaired: what it wrote itself must not make it take them for busy. */
export class OwnWrites {
  readonly #generations = new Map<string, number>()

  note(key: RecordKey, generation: number): void {
    const id = recordId(key)
    this.#generations.delete(id)
    this.#generations.set(id, generation)
    if (this.#generations.size <= MOST) return
    // A forgotten record is left alone until the next run.
    for (const oldest of this.#generations.keys()) {
      this.#generations.delete(oldest)
      return
    }
  }

  has(key: RecordKey): boolean {
    return this.#generations.has(recordId(key))
  }

  isLast(key: RecordKey, { generation }: Reading): boolean {
    return this.#generations.get(recordId(key)) === generation
  }
}
