import { BacktrackSearch } from './backtrack-search.js'
import { LinearSearch } from './linear-search.js'
import { parsePosixRegex, type PosixOptions } from '../../regex/posix-parser.js'
import { MalformedRegex } from '../../regex/malformed-regex.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { compilePattern, type Program } from './program.js'

/** A search for a pattern anywhere in a text. */
interface Search {
  test(text: Uint8Array): boolean
}

/** Compiles a POSIX regular expression; pattern and text are bytes that end at the first NUL. */
export function compileRegex(pattern: string, options: PosixOptions): Search {
  const program = compiled(Buffer.from(cString(Buffer.from(pattern))).toString('latin1'), options)
  const search = program.hasBackReferences ? new BacktrackSearch(program) : new LinearSearch(program)
  return { test: (text) => search.test(cString(text)) }
}

function compiled(pattern: string, options: PosixOptions): Program {
  try {
    return compilePattern(parsePosixRegex(pattern, options))
  } catch (error) {
    if (error instanceof MalformedRegex) throw new CommandError(ResultCode.PARAMETER, error.message)
    throw error
  }
}

function cString(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0)
  return end < 0 ? bytes : bytes.subarray(0, end)
}
