import { readSync } from 'node:fs'
import { crc32 } from 'node:zlib'

/** The first bytes of a data file; the number is that of the format. */
export const FILE_START = Buffer.from('skein-data-1\n')
const MARK = Buffer.from([0xa5, 0x53, 0x4b, 0x4e])
const HEADER = MARK.length + 8
const WINDOW = 1 << 20
const MAX_FRAME = 1 << 30

/** An entry as it stands in the file: a mark, the length and the checksum, then the entry. */
export function frame(entry: Buffer): Buffer {
  const header = Buffer.allocUnsafe(HEADER)
  MARK.copy(header)
  header.writeUInt32BE(entry.length, 4)
  header.writeUInt32BE(crc32(entry), 8)
  return Buffer.concat([header, entry])
}

/** Reads the frames of a file without holding all of it in memory. */
export class FrameFile {
  #window = Buffer.alloc(0)
  #windowStart = 0

  constructor(
    readonly fd: number,
    readonly size: number,
  ) {}

  /** The entry at a position and the position after it; undefined where no whole entry stands. */
  entryAt(position: number): { readonly entry: Buffer; readonly end: number } | undefined {
    const header = this.bytes(position, HEADER)
    if (header === undefined || !header.subarray(0, MARK.length).equals(MARK)) return undefined
    const length = header.readUInt32BE(4)
    const checksum = header.readUInt32BE(8)
    if (length > MAX_FRAME) return undefined
    const entry = this.bytes(position + HEADER, length)
    if (entry === undefined || crc32(entry) !== checksum) return undefined
    return { entry, end: position + HEADER + length }
  }

  /** True where a whole entry begins anywhere after a position: then what stands there is not the end of the file. */
  hasEntryAfter(position: number): boolean {
    for (let at = position + 1; at + HEADER <= this.size; at++) {
      const chunk = this.bytes(at, Math.min(WINDOW, this.size - at))!
      const found = chunk.indexOf(MARK)
      if (found < 0) {
        at += chunk.length - MARK.length
        continue
      }
      at += found
      if (this.entryAt(at) !== undefined) return true
    }
    return false
  }

  /** Bytes of the file; undefined where it is shorter. */
  bytes(position: number, length: number): Buffer | undefined {
    if (position + length > this.size) return undefined
    const start = position - this.#windowStart
    if (start < 0 || start + length > this.#window.length) {
      this.#read(position, Math.min(this.size - position, Math.max(length, WINDOW)))
      return this.#window.subarray(0, length)
    }
    return this.#window.subarray(start, start + length)
  }

  #read(position: number, length: number): void {
    const window = Buffer.allocUnsafe(length)
    let read = 0
    while (read < length) {
      const more = readSync(this.fd, window, read, length - read, position + read)
      if (more === 0) break
      read += more
    }
    this.#window = window.subarray(0, read)
    this.#windowStart = position
  }
}
