import { malformedRegex } from './malformed-regex.js'
import { Assertion, byteSet, foldCase, inverted, NEWLINE, WORD, type ByteSet, type Pattern } from './pattern.js'
import { parseBracket } from './posix-bracket.js'

export interface PosixOptions {
  readonly extended: boolean
  readonly ignoreCase: boolean
  /** Lines are matched on their own: `.` and `[^a]` stop at line ends, `^` and `$` match there. */
  readonly newline: boolean
}

/**
 * Reads a POSIX regular expression as the C library of a server in the C locale understands it, with its GNU
 * extensions. Every character of `pattern` is one byte.
 */
export function parsePosixRegex(pattern: string, options: PosixOptions): Pattern {
  return new PosixParser(pattern, options).parse()
}

const MAX_REPEAT = 0x7fff
/** Deeper nesting than this is refused, so that hostile patterns cannot exhaust the stack. */
const MAX_DEPTH = 500

const SPACE = byteSet(' \t\n\v\f\r')
/** GNU classes after a backslash, in both syntaxes. */
const GNU_CLASSES = new Map<string, ByteSet>([
  ['w', WORD],
  ['W', inverted(WORD)],
  ['s', SPACE],
  ['S', inverted(SPACE)],
])
const GNU_ANCHORS = new Map<string, Assertion>([
  ['b', Assertion.WORD_EDGE],
  ['B', Assertion.NO_WORD_EDGE],
  ['<', Assertion.WORD_START],
  ['>', Assertion.WORD_END],
  ['`', Assertion.TEXT_START],
  ["'", Assertion.TEXT_END],
])

type Operator = 'open' | 'close' | 'or' | 'star' | 'plus' | 'optional' | 'repeat'
type Bounds = readonly [least: number, most: number]

const QUANTIFIERS: Partial<Record<Operator, Bounds>> = { star: [0, Infinity], plus: [1, Infinity], optional: [0, 1] }

class PosixParser {
  #at = 0
  #opened = 0
  readonly #closed = new Set<number>()
  #depth = 0

  constructor(
    readonly pattern: string,
    readonly options: PosixOptions,
  ) {}

  parse(): Pattern {
    const parsed = this.#alternatives()
    if (this.#at < this.pattern.length) throw malformedRegex('a parenthesis does not match')
    return parsed
  }

  #alternatives(): Pattern {
    const branches = [this.#branch()]
    while (this.#operator() === 'or') {
      this.#skipOperator()
      branches.push(this.#branch())
    }
    return branches.length === 1 ? branches[0] : { kind: 'either', branches }
  }

  #branch(): Pattern {
    const parts: Pattern[] = []
    for (let first = true; this.#at < this.pattern.length; first = false) {
      const operator = this.#operator()
      if (operator === 'or' || operator === 'close') break
      parts.push(this.#piece(operator, first))
    }
    return { kind: 'sequence', parts }
  }

  #piece(operator: Operator | undefined, first: boolean): Pattern {
    // Reached only at the start and after an anchor, where there is nothing to repeat.
    if (operator !== undefined && operator !== 'open') return this.#literalOperator(operator)
    return this.#anchor(first) ?? this.#repeated(operator === 'open' ? this.#group() : this.#atom())
  }

  /** A repetition with nothing before it: basic syntax takes `*` for itself, everything else is an error. */
  #literalOperator(operator: Operator): Pattern {
    if (this.options.extended || operator === 'repeat') throw malformedRegex('there is nothing to repeat')
    const text = this.pattern[this.#at + (operator === 'star' ? 0 : 1)]
    this.#skipOperator()
    return this.#repeated(this.#literal(text))
  }

  #anchor(first: boolean): Pattern | undefined {
    const char = this.pattern[this.#at]
    const { extended, newline } = this.options
    if (char === '^' && (extended || first)) {
      this.#at++
      return { kind: 'assertion', test: newline ? Assertion.LINE_START : Assertion.TEXT_START }
    }
    if (char === '$' && (extended || this.#endsBranch(this.#at + 1))) {
      this.#at++
      return { kind: 'assertion', test: newline ? Assertion.LINE_END : Assertion.TEXT_END }
    }
    const test = char === '\\' ? GNU_ANCHORS.get(this.pattern[this.#at + 1]) : undefined
    if (test === undefined) return undefined
    this.#at += 2
    return { kind: 'assertion', test }
  }

  #endsBranch(at: number): boolean {
    return at === this.pattern.length || ['\\)', '\\|'].includes(this.pattern.slice(at, at + 2))
  }

  #group(): Pattern {
    this.#skipOperator()
    const number = ++this.#opened
    if (++this.#depth > MAX_DEPTH) throw malformedRegex('the regular expression is nested too deeply')
    const part = this.#alternatives()
    if (this.#operator() !== 'close') throw malformedRegex('a parenthesis does not match')
    this.#skipOperator()
    this.#depth--
    this.#closed.add(number)
    return { kind: 'group', number, part }
  }

  #atom(): Pattern {
    const char = this.pattern[this.#at]
    if (char === '[') {
      const { set, end } = parseBracket(this.pattern, this.#at + 1, this.options)
      this.#at = end
      return { kind: 'byte', set }
    }
    this.#at++
    if (char === '.') return this.#anyByte()
    if (char === '\\') return this.#escaped()
    return this.#literal(char)
  }

  #anyByte(): Pattern {
    const set = new Uint8Array(256).fill(1)
    if (this.options.newline) set[NEWLINE] = 0
    return { kind: 'byte', set }
  }

  #escaped(): Pattern {
    const char = this.pattern[this.#at++] as string | undefined
    if (char === undefined) throw malformedRegex('a backslash stands at the end')
    if (char >= '1' && char <= '9') {
      const number = Number(char)
      if (!this.#closed.has(number)) throw malformedRegex('a back reference has no group')
      return { kind: 'back reference', number }
    }
    const set = GNU_CLASSES.get(char)
    return set === undefined ? this.#literal(char) : { kind: 'byte', set }
  }

  #literal(char: string): Pattern {
    const set = new Uint8Array(256)
    set[char.charCodeAt(0)] = 1
    return { kind: 'byte', set: this.options.ignoreCase ? foldCase(set) : set }
  }

  #repeated(atom: Pattern): Pattern {
    let part = atom
    for (let repeats = 0; ; repeats++) {
      const operator = this.#operator()
      if (part !== atom && !this.options.extended && (operator === 'star' || operator === 'repeat')) {
        throw malformedRegex('a repetition cannot be repeated')
      }
      const bounds = this.#bounds(operator)
      if (bounds === undefined) return part
      if (repeats > MAX_DEPTH) throw malformedRegex('the regular expression is nested too deeply')
      part = { kind: 'repeat', part, least: bounds[0], most: bounds[1] }
    }
  }

  #bounds(operator: Operator | undefined): Bounds | undefined {
    if (operator === 'repeat') return this.#interval()
    const bounds = operator && QUANTIFIERS[operator]
    if (bounds !== undefined) this.#skipOperator()
    return bounds
  }

  #interval(): Bounds {
    this.#skipOperator()
    const closing = this.options.extended ? '}' : '\\}'
    const end = this.pattern.indexOf(closing, this.#at)
    const text = end < 0 ? '' : this.pattern.slice(this.#at, end)
    const found = /^(\d{0,5})(,?)(\d{0,5})$/.exec(text)
    if (found === null || text === '' || (found[1] === '' && found[2] === '')) {
      throw malformedRegex('a repetition is malformed')
    }
    const least = Number(found[1])
    const most = found[2] === '' ? least : found[3] === '' ? Infinity : Number(found[3])
    if (least > most || least > MAX_REPEAT || (most !== Infinity && most > MAX_REPEAT)) {
      throw malformedRegex('a repetition is out of range')
    }
    this.#at = end + closing.length
    return [least, most]
  }

  /** The operator that stands here; in basic syntax most of them need a backslash. */
  #operator(): Operator | undefined {
    const char = this.pattern[this.#at]
    if (char === '*') return 'star'
    const { extended } = this.options
    if (extended ? char === '\\' : char !== '\\') return undefined
    switch (extended ? char : this.pattern[this.#at + 1]) {
      case '(':
        return 'open'
      case ')':
        // Extended syntax takes a closing parenthesis without an opening one for itself.
        return extended && this.#depth === 0 ? undefined : 'close'
      case '|':
        return 'or'
      case '+':
        return 'plus'
      case '?':
        return 'optional'
      case '{':
        return 'repeat'
    }
    return undefined
  }

  #skipOperator(): void {
    this.#at += this.pattern[this.#at] === '\\' ? 2 : 1
  }
}
