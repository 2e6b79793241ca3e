import type { MapKey } from '../../../plan/value.js'
import { valueBytes } from '../../../plan/wire-bytes.js'

/** Bytes that the moves of one write may take: they are one expression, of which a server takes 1 MiB. */
const MOST_BYTES = 1 << 19
const BESIDE_KEYS = 96

/** Counts the moves of one write. */
export class MoveRoom {
  #left = MOST_BYTES

  /** False where a move does not fit any more; the first one always does. */
  take(from: MapKey, to: MapKey): boolean {
    const isFirst = this.#left === MOST_BYTES
    this.#left -= BESIDE_KEYS + 3 * valueBytes(from) + 2 * valueBytes(to)
    return isFirst || this.#left >= 0
  }
}
