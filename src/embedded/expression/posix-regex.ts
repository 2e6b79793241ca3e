import { invalid } from './node.js'
import { translateBracket } from './posix-bracket.js'

export interface PosixOptions {
  readonly extended: boolean
  readonly ignoreCase: boolean
  /** Lines are matched on their own: `.` and `[^a]` stop at line ends, `^` and `$` match there. */
  readonly newline: boolean
}

/**
 * Turns a POSIX regular expression, as the C library of a server in the C locale understands it (with its GNU
 * extensions), into a JavaScript one. Text and pattern are matched byte by byte: see `toByteUnits`.
 */
export function compilePosixRegex(pattern: string, options: PosixOptions): RegExp {
  const source = new PosixTranslator(toByteUnits(pattern), options).translate()
  try {
    const regex = new RegExp(source, options.ignoreCase ? 'i' : '')
    // Patterns that are too large show only when they are used.
    regex.test('')
    return regex
  } catch {
    throw invalid('the regular expression is malformed')
  }
}

/**
 * One character for each UTF-8 byte, ending at the first NUL. Bytes beyond ASCII go where Unicode knows no letter case,
 * because the C locale does not know any there either.
 */
export function toByteUnits(text: string | Buffer): string {
  if (typeof text === 'string' && /^[\x01-\x7f]*$/.test(text)) return text
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  const end = bytes.indexOf(0)
  let units = ''
  for (const byte of end < 0 ? bytes : bytes.subarray(0, end)) {
    units += String.fromCharCode(byte < 0x80 ? byte : 0xe000 + byte)
  }
  return units
}

const MAX_REPEAT = 0x7fff
const NEVER_LITERAL = /[\\^$.*+?()[\]{}|/]/
/** GNU operators after a backslash, in both syntaxes. */
const GNU_OPERATORS: Record<string, string> = {
  w: '[A-Za-z0-9_]',
  W: '[^A-Za-z0-9_]',
  s: '[ \\t\\n\\v\\f\\r]',
  S: '[^ \\t\\n\\v\\f\\r]',
  b: '\\b',
  B: '\\B',
  '<': '\\b(?=[A-Za-z0-9_])',
  '>': '\\b(?<=[A-Za-z0-9_])',
  '`': '^',
  "'": '$',
}
const GNU_ANCHORS = "bB<>`'"

type Operator = 'open' | 'close' | 'or' | 'star' | 'plus' | 'optional' | 'repeat'

class PosixTranslator {
  #at = 0
  #opened = 0
  readonly #closed = new Set<number>()
  #depth = 0

  constructor(
    readonly pattern: string,
    readonly options: PosixOptions,
  ) {}

  translate(): string {
    const source = this.#alternatives()
    if (this.#at < this.pattern.length) throw invalid('a parenthesis does not match')
    return source
  }

  #alternatives(): string {
    const branches = [this.#branch()]
    while (this.#operator() === 'or') {
      this.#skipOperator()
      branches.push(this.#branch())
    }
    return branches.join('|')
  }

  #branch(): string {
    let source = ''
    for (let first = true; this.#at < this.pattern.length; first = false) {
      const operator = this.#operator()
      if (operator === 'or' || operator === 'close') break
      source += this.#piece(operator, first)
    }
    return source
  }

  #piece(operator: Operator | undefined, first: boolean): string {
    // Reached only at the start and after an anchor, where there is nothing to repeat.
    if (operator !== undefined && operator !== 'open') return this.#literalOperator(operator)
    return this.#anchor(first) ?? this.#repeated(operator === 'open' ? this.#group() : this.#atom())
  }

  /** A repetition with nothing before it: basic syntax takes `*` for itself, everything else is an error. */
  #literalOperator(operator: Operator): string {
    if (this.options.extended || operator === 'repeat') throw invalid('there is nothing to repeat')
    const text = this.pattern[this.#at + (operator === 'star' ? 0 : 1)]
    this.#skipOperator()
    return this.#repeated(escape(text))
  }

  #anchor(first: boolean): string | undefined {
    const char = this.pattern[this.#at]
    const { extended, newline } = this.options
    if (char === '^' && (extended || first)) {
      this.#at++
      return newline ? '(?:^|(?<=\\n))' : '^'
    }
    if (char === '$' && (extended || this.#endsBranch(this.#at + 1))) {
      this.#at++
      return newline ? '(?:$|(?=\\n))' : '$'
    }
    const next = this.pattern[this.#at + 1]
    if (char === '\\' && next !== undefined && GNU_ANCHORS.includes(next)) {
      this.#at += 2
      return GNU_OPERATORS[next]
    }
    return undefined
  }

  #endsBranch(at: number): boolean {
    return at === this.pattern.length || ['\\)', '\\|'].includes(this.pattern.slice(at, at + 2))
  }

  #group(): string {
    this.#skipOperator()
    const number = ++this.#opened
    this.#depth++
    const inner = this.#alternatives()
    if (this.#operator() !== 'close') throw invalid('a parenthesis does not match')
    this.#skipOperator()
    this.#depth--
    this.#closed.add(number)
    return `(${inner})`
  }

  #atom(): string {
    const char = this.pattern[this.#at]
    if (char === '[') {
      const { source, end } = translateBracket(this.pattern, this.#at + 1, this.options.newline)
      this.#at = end
      return source
    }
    this.#at++
    if (char === '.') return this.options.newline ? '[^\\n]' : '[^]'
    if (char === '\\') return this.#escaped()
    return escape(char)
  }

  #escaped(): string {
    const char = this.pattern[this.#at++]
    if (char === undefined) throw invalid('a backslash stands at the end')
    if (char >= '1' && char <= '9') {
      if (!this.#closed.has(Number(char))) throw invalid('a back reference has no group')
      // The empty group keeps a digit that follows out of the reference.
      return `\\${char}(?:)`
    }
    return GNU_OPERATORS[char] ?? escape(char)
  }

  #repeated(atom: string): string {
    let source = atom
    for (;;) {
      const operator = this.#operator()
      if (source !== atom && !this.options.extended && (operator === 'star' || operator === 'repeat')) {
        throw invalid('a repetition cannot be repeated')
      }
      const quantifier = this.#quantifier()
      if (quantifier === undefined) return source
      source = `(?:${source})${quantifier}`
    }
  }

  #quantifier(): string | undefined {
    const operator = this.#operator()
    const quantifiers: Partial<Record<Operator, string>> = { star: '*', plus: '+', optional: '?' }
    if (operator === 'repeat') return this.#interval()
    const quantifier = operator && quantifiers[operator]
    if (quantifier !== undefined) this.#skipOperator()
    return quantifier
  }

  #interval(): string {
    this.#skipOperator()
    const closing = this.options.extended ? '}' : '\\}'
    const end = this.pattern.indexOf(closing, this.#at)
    const text = end < 0 ? '' : this.pattern.slice(this.#at, end)
    const found = /^(\d*)(,?)(\d*)$/.exec(text)
    if (found === null || text === '' || (found[1] === '' && found[2] === ''))
      throw invalid('a repetition is malformed')
    const least = Number(found[1])
    const most = found[2] === '' ? least : found[3] === '' ? Infinity : Number(found[3])
    if (least > most || least > MAX_REPEAT || (most !== Infinity && most > MAX_REPEAT)) {
      throw invalid('a repetition is out of range')
    }
    this.#at = end + closing.length
    return `{${least},${most === Infinity ? '' : most}}`
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

function escape(char: string): string {
  return NEVER_LITERAL.test(char) ? `\\${char}` : char
}
