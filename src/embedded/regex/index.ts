import { BacktrackSearch } from './backtrack-search.js'
import { LinearSearch } from './linear-search.js'
import { parsePosixRegex, type PosixOptions } from './posix-parser.js'
import { compilePattern } from './program.js'

export type { PosixOptions } from './posix-parser.js'

/** A search for a pattern anywhere in a text. */
export interface Search {
  test(text: Uint8Array): boolean
}

/** Compiles a POSIX regular expression; pattern and text are bytes that end at the first NUL. */
export function compileRegex(pattern: string, options: PosixOptions): Search {
  const bytes = cString(Buffer.from(pattern))
  const program = compilePattern(parsePosixRegex(Buffer.from(bytes).toString('latin1'), options))
  const search = program.hasBackReferences ? new BacktrackSearch(program) : new LinearSearch(program)
  return { test: (text) => search.test(cString(text)) }
}

function cString(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0)
  return end < 0 ? bytes : bytes.subarray(0, end)
}
