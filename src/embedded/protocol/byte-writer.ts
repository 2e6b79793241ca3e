/** A growing buffer for replies. `take` hands out a copy, so one writer serves every command of a connection. */
export class ByteWriter {
  #buffer = Buffer.allocUnsafe(4096)
  length = 0

  #reserve(size: number): number {
    const at = this.length
    this.length = at + size
    if (this.length > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.length, this.#buffer.length * 2))
      this.#buffer.copy(grown, 0, 0, at)
      this.#buffer = grown
    }
    return at
  }

  u8(value: number): void {
    const at = this.#reserve(1)
    this.#buffer[at] = value
  }

  u16(value: number): void {
    const at = this.#reserve(2)
    this.#buffer[at] = value >>> 8
    this.#buffer[at + 1] = value
  }

  u32(value: number): void {
    const at = this.#reserve(4)
    this.#buffer[at] = value >>> 24
    this.#buffer[at + 1] = value >>> 16
    this.#buffer[at + 2] = value >>> 8
    this.#buffer[at + 3] = value
  }

  i64(value: number | bigint): void {
    const at = this.#reserve(8)
    this.#buffer.writeBigInt64BE(BigInt(value), at)
  }

  u64(value: bigint): void {
    const at = this.#reserve(8)
    this.#buffer.writeBigUInt64BE(value, at)
  }

  f64(value: number): void {
    const at = this.#reserve(8)
    this.#buffer.writeDoubleBE(value, at)
  }

  bytes(value: Buffer): void {
    const length = value.length
    const at = this.#reserve(length)
    // Calling into native code costs more than a few bytes are worth.
    if (length > SMALL) value.copy(this.#buffer, at)
    else for (let i = 0; i < length; i++) this.#buffer[at + i] = value[i]
  }

  /** A string of known byte length (see `Buffer.byteLength`). */
  utf8(value: string, byteLength: number): void {
    const at = this.#reserve(byteLength)
    this.#buffer.write(value, at, 'utf8')
  }

  /** A short string with its length in one byte before it, as bin names are sent. */
  name(value: string): void {
    const length = value.length
    const at = this.#reserve(length + 1)
    for (let i = 0; i < length; i++) {
      const unit = value.charCodeAt(i)
      if (unit > 0x7f) {
        this.length = at
        return this.#wideName(value)
      }
      this.#buffer[at + 1 + i] = unit
    }
    this.#buffer[at] = length
  }

  #wideName(value: string): void {
    const length = Buffer.byteLength(value)
    this.u8(length)
    this.utf8(value, length)
  }

  patchU32(at: number, value: number): void {
    this.#buffer.writeUInt32BE(value, at)
  }

  reset(): void {
    this.length = 0
  }

  /** The bytes written so far, copied; the writer is empty afterwards. */
  take(): Buffer {
    const bytes = Buffer.allocUnsafe(this.length)
    this.#buffer.copy(bytes, 0, 0, this.length)
    this.length = 0
    if (this.#buffer.length > MAX_KEPT) this.#buffer = Buffer.allocUnsafe(4096)
    return bytes
  }
}

const SMALL = 24
const MAX_KEPT = 4 << 20
