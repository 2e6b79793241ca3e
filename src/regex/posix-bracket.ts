import { malformedRegex } from './malformed-regex.js'
import { addRange, byteSet, foldCase, inverted, NEWLINE, type ByteSet } from './pattern.js'

/** The classes of the C locale. */
const CLASSES = new Map<string, ByteSet>([
  ['alpha', byteSet('A-Za-z')],
  ['digit', byteSet('0-9')],
  ['alnum', byteSet('A-Za-z0-9')],
  ['upper', byteSet('A-Z')],
  ['lower', byteSet('a-z')],
  ['space', byteSet(' \t\n\v\f\r')],
  ['blank', byteSet(' \t')],
  ['punct', byteSet('!-/:-@[-`{-~')],
  ['print', byteSet(' -~')],
  ['graph', byteSet('!-~')],
  ['cntrl', byteSet('\x00-\x1f\x7f')],
  ['xdigit', byteSet('0-9A-Fa-f')],
])

interface BracketOptions {
  readonly ignoreCase: boolean
  /** A negated bracket does not match a line end. */
  readonly newline: boolean
}

/**
 * Reads a bracket expression that starts at `at`, just after its `[`. A backslash is an ordinary character in it, and a
 * `]` that comes first too.
 */
export function parseBracket(pattern: string, at: number, options: BracketOptions): { set: ByteSet; end: number } {
  const negated = pattern[at] === '^'
  if (negated) at++
  const first = at
  const members = new Uint8Array(256)
  while (pattern[at] !== ']' || at === first) {
    if (at >= pattern.length) throw malformedRegex('a bracket does not close')
    const kind = pattern[at] === '[' ? pattern[at + 1] : ''
    if (kind === ':') {
      const name = delimited(pattern, at, ':')
      const known = CLASSES.get(name)
      if (known === undefined) throw malformedRegex('there is no such character class')
      known.forEach((member, byte) => (members[byte] |= member))
      at += name.length + 4
      continue
    }
    const from = element(pattern, at)
    at = from.end
    const isRange = pattern[at] === '-' && pattern[at + 1] !== ']'
    const to = isRange ? element(pattern, at + 1) : from
    if (to.byte < from.byte) throw malformedRegex('a range is the wrong way round')
    addRange(members, from.byte, to.byte)
    at = to.end
  }
  const folded = options.ignoreCase ? foldCase(members) : members
  if (!negated) return { set: folded, end: at + 1 }
  const rest = inverted(folded)
  if (options.newline) rest[NEWLINE] = 0
  return { set: rest, end: at + 1 }
}

/** Reads one character, or a collating element `[.a.]` or equivalence class `[=a=]`, which hold one character here. */
function element(pattern: string, at: number): { byte: number; end: number } {
  if (at >= pattern.length) throw malformedRegex('a bracket does not close')
  const kind = pattern[at] === '[' ? pattern[at + 1] : ''
  if (kind !== '.' && kind !== '=') return { byte: pattern.charCodeAt(at), end: at + 1 }
  const char = delimited(pattern, at, kind)
  if (char.length !== 1) throw malformedRegex('there is no such collating element')
  return { byte: char.charCodeAt(0), end: at + 5 }
}

function delimited(pattern: string, at: number, mark: string): string {
  const end = pattern.indexOf(`${mark}]`, at + 2)
  if (end < 0) throw malformedRegex('a bracket does not close')
  return pattern.slice(at + 2, end)
}
