import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { decodeEntry, encodeEntry } from './entry-codec.js'
import type { JournalEntry } from './entry.js'
import { FILE_START, frame, FrameFile } from './frames.js'
import { damaged, notADataFile } from './unusable-file.js'

/** Smaller files are not worth the time to write them anew. */
const SMALLEST_TO_COMPACT = 16 * 1024 * 1024

/** A file that entries are added to. An entry that was added is read again after the process was killed. */
export class JournalFile {
  #fd: number
  #size: number
  #compactedSize: number

  private constructor(
    readonly path: string,
    fd: number,
    size: number,
  ) {
    this.#fd = fd
    this.#size = size
    this.#compactedSize = size
  }

  /** Opens a file, or makes it, and gives its entries to `take`; an entry that is cut off at the end is removed. */
  static open(path: string, take: (entry: JournalEntry) => void): JournalFile {
    rmSync(temporary(path), { force: true })
    const fd = openSync(path, existsSync(path) ? 'r+' : 'w+')
    try {
      return new JournalFile(path, fd, readAll(path, fd, take))
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }

  /** True when most of the file is about what is no longer so. */
  get isWasteful(): boolean {
    return this.#size > SMALLEST_TO_COMPACT && this.#size > 2 * this.#compactedSize
  }

  add(entry: JournalEntry): void {
    const bytes = frame(encodeEntry(entry))
    try {
      writeAll(this.#fd, bytes, this.#size)
    } catch (error) {
      // Half an entry in the middle would make the rest unreadable.
      ftruncateSync(this.#fd, this.#size)
      throw new CommandError(ResultCode.DEVICE_OVERLOAD, `the data file cannot be written: ${String(error)}`)
    }
    this.#size += bytes.length
  }

  /** Replaces everything in the file, at once. */
  replace(entries: Iterable<JournalEntry>): void {
    const path = temporary(this.path)
    const fd = openSync(path, 'w+')
    let size = 0
    const write = (bytes: Buffer): void => {
      writeAll(fd, bytes, size)
      size += bytes.length
    }
    try {
      write(FILE_START)
      for (const entry of entries) write(frame(encodeEntry(entry)))
      fsyncSync(fd)
      renameSync(path, this.path)
    } catch (error) {
      closeSync(fd)
      rmSync(path, { force: true })
      // The file goes on as it is, and is not tried again at once.
      this.#compactedSize = this.#size
      console.error(`skein embedded server: "${this.path}" could not be written anew:`, error)
      return
    }
    closeSync(this.#fd)
    this.#fd = fd
    this.#size = size
    this.#compactedSize = size
  }

  close(): void {
    fsyncSync(this.#fd)
    closeSync(this.#fd)
  }
}

const temporary = (path: string): string => `${path}.new`

/** Reads what is there and returns the size of the file afterwards. */
function readAll(path: string, fd: number, take: (entry: JournalEntry) => void): number {
  const { size } = fstatSync(fd)
  const file = new FrameFile(fd, size)
  const start = file.bytes(0, Math.min(size, FILE_START.length))!
  if (!start.equals(FILE_START.subarray(0, start.length))) throw notADataFile(path)
  if (size < FILE_START.length) {
    writeAll(fd, FILE_START, 0)
    return FILE_START.length
  }
  let position = FILE_START.length
  while (position < size) {
    const found = file.entryAt(position)
    if (found === undefined) {
      if (file.hasEntryAfter(position)) throw damaged(path, position)
      ftruncateSync(fd, position)
      console.error(`skein embedded server: cut off ${size - position} bytes of an unfinished write from "${path}"`)
      return position
    }
    take(decoded(path, position, found.entry))
    position = found.end
  }
  return position
}

function decoded(path: string, position: number, bytes: Buffer): JournalEntry {
  try {
    return decodeEntry(bytes)
  } catch {
    throw damaged(path, position)
  }
}

function writeAll(fd: number, bytes: Buffer, position: number): void {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(fd, bytes, written, bytes.length - written, position + written)
  }
}
