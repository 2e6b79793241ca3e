import { FRAME_HEADER, PROTOCOL_VERSION } from './constants.js'

export interface Frame {
  readonly type: number
  readonly body: Buffer
}

/** Raised for bytes that cannot be a frame; the connection has to be closed, there is no way to find the next frame. */
export class FramingError extends Error {}

/** Cuts a stream of chunks into frames. */
export class FrameReader {
  #pending: Buffer[] = []
  #size = 0
  #needed = FRAME_HEADER

  constructor(readonly maxBody: number) {}

  /** Bytes that wait. */
  get size(): number {
    return this.#size
  }

  push(chunk: Buffer): void {
    this.#pending.push(chunk)
    this.#size += chunk.length
  }

  /** The next complete frame, or undefined until more bytes arrive. */
  next(): Frame | undefined {
    if (this.#size < this.#needed) return undefined
    const bytes = this.#pending.length === 1 ? this.#pending[0] : Buffer.concat(this.#pending, this.#size)
    if (bytes[0] !== PROTOCOL_VERSION) throw new FramingError(`unknown protocol version ${bytes[0]}`)
    const length = bytes.readUIntBE(2, 6)
    if (length > this.maxBody) throw new FramingError(`a frame of ${length} bytes is too large`)
    const end = FRAME_HEADER + length
    if (bytes.length < end) {
      this.#pending = [bytes]
      this.#needed = end
      return undefined
    }
    this.#pending = bytes.length > end ? [bytes.subarray(end)] : []
    this.#size -= end
    this.#needed = FRAME_HEADER
    return { type: bytes[1], body: bytes.subarray(FRAME_HEADER, end) }
  }
}
