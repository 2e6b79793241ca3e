import { MalformedRegex } from '../regex/malformed-regex.js'
import { parsePosixRegex } from '../regex/posix-parser.js'
import type { Field } from './field.js'
import { ConditionProblem } from './where-errors.js'

/** A pattern that the server can compile: it would answer a wrong one with code 4, and no reason. */
export function checkedPattern({ path }: Field, pattern: string): string {
  try {
    const bytes = Buffer.from(pattern).toString('latin1')
    parsePosixRegex(bytes, { extended: true, ignoreCase: false, newline: false })
    return pattern
  } catch (error) {
    if (!(error instanceof MalformedRegex)) throw error
    const fix = "Give a POSIX extended regular expression; 'contains' looks for a literal string."
    throw new ConditionProblem(path, `'regex' cannot use this pattern: ${error.message}`, fix)
  }
}
