/** Reads the parts of an entry one after the other; throws at its end. */
export class EntryReader {
  #position = 0

  constructor(readonly buffer: Buffer) {}

  get isDone(): boolean {
    return this.#position === this.buffer.length
  }

  u8(): number {
    return this.buffer[this.#take(1)]
  }

  u16(): number {
    return this.buffer.readUInt16BE(this.#take(2))
  }

  u32(): number {
    return this.buffer.readUInt32BE(this.#take(4))
  }

  f64(): number {
    return this.buffer.readDoubleBE(this.#take(8))
  }

  /** A copy, so that the buffer of the whole file need not be kept. */
  bytes(length: number): Buffer {
    const at = this.#take(length)
    return Buffer.from(this.buffer.subarray(at, at + length))
  }

  /** Bytes with their length in four bytes before them. */
  sized(): Buffer {
    return this.bytes(this.u32())
  }

  /** A short string with its length in one byte before it. */
  name(): string {
    const length = this.u8()
    const at = this.#take(length)
    return this.buffer.toString('utf8', at, at + length)
  }

  #take(length: number): number {
    const at = this.#position
    if (at + length > this.buffer.length) throw new Error('an entry is too short')
    this.#position = at + length
    return at
  }
}
