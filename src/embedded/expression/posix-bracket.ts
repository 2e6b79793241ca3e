import { invalid } from './node.js'

/** The classes of the C locale. */
const CLASSES: Record<string, string> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: ' \\t\\n\\v\\f\\r',
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`{-~',
  print: ' -~',
  graph: '!-~',
  cntrl: '\\x00-\\x1f\\x7f',
  xdigit: '0-9A-Fa-f',
}

/**
 * Translates a bracket expression that starts at `at`, just after its `[`. A backslash is an ordinary character in
 * it, and a `]` that comes first too.
 */
export function translateBracket(pattern: string, at: number, newline: boolean): { source: string; end: number } {
  const negated = pattern[at] === '^'
  if (negated) at++
  const first = at
  let members = ''
  while (pattern[at] !== ']' || at === first) {
    if (at >= pattern.length) throw invalid('a bracket does not close')
    const kind = pattern[at] === '[' ? pattern[at + 1] : ''
    if (kind === ':') {
      const name = delimited(pattern, at, ':')
      if (!(name in CLASSES)) throw invalid('there is no such character class')
      members += CLASSES[name]
      at += name.length + 4
      continue
    }
    const from = element(pattern, at)
    at = from.end
    if (pattern[at] !== '-' || pattern[at + 1] === ']') {
      members += escapeMember(from.char)
      continue
    }
    const to = element(pattern, at + 1)
    if (to.char < from.char) throw invalid('a range is the wrong way round')
    members += `${escapeMember(from.char)}-${escapeMember(to.char)}`
    at = to.end
  }
  const end = at + 1
  if (!negated) return { source: `[${members}]`, end }
  return { source: `[^${members}${newline ? '\\n' : ''}]`, end }
}

/** One character, or a collating element `[.a.]` or equivalence class `[=a=]`, which hold one character here. */
function element(pattern: string, at: number): { char: string; end: number } {
  if (at >= pattern.length) throw invalid('a bracket does not close')
  const kind = pattern[at] === '[' ? pattern[at + 1] : ''
  if (kind !== '.' && kind !== '=') return { char: pattern[at], end: at + 1 }
  const char = delimited(pattern, at, kind)
  if (char.length !== 1) throw invalid('there is no such collating element')
  return { char, end: at + 5 }
}

function delimited(pattern: string, at: number, mark: string): string {
  const end = pattern.indexOf(`${mark}]`, at + 2)
  if (end < 0) throw invalid('a bracket does not close')
  return pattern.slice(at + 2, end)
}

function escapeMember(char: string): string {
  return /[\\\]^-]/.test(char) ? `\\${char}` : char
}
