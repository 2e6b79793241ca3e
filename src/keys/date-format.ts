const TOKENS = ['YYYY', 'MM', 'DD', 'HH', 'mm', 'ss', 'SSS'] as const
const UNITS = ['year', 'month', 'day', 'hour', 'minute', 'second', 'millisecond'] as const

/** Length of one slice of a date format. */
type SliceUnit = (typeof UNITS)[number]

type Field = readonly [
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
  ms: number,
]

const fieldsOf = (date: Date): Field => [
  date.getUTCFullYear(),
  date.getUTCMonth() + 1,
  date.getUTCDate(),
  date.getUTCHours(),
  date.getUTCMinutes(),
  date.getUTCSeconds(),
  date.getUTCMilliseconds(),
]

const dateOf = ([year, month, day, hour, minute, second, ms]: Field): Date => {
  const date = new Date(0)
  // Date.UTC reads the years 0 to 99 as 1900 to 1999; the setters do not.
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second, ms)
  return date
}

/**
 * A pattern such as `YYYY-MM-DD` or `YYYYMMDDHH`, always in UTC. It names a slice of time: all instants that print the same.
 * Fields run from the year down without gaps, so that text order is time order.
 */
export class DateFormat {
  readonly pattern: string
  readonly unit: SliceUnit
  readonly #pieces: readonly (string | number)[]
  readonly #matcher: RegExp
  readonly #fieldCount: number

  private constructor(pattern: string, pieces: readonly (string | number)[], fieldCount: number) {
    this.pattern = pattern
    this.#pieces = pieces
    this.#fieldCount = fieldCount
    this.unit = UNITS[fieldCount - 1]!
    const source = pieces.map((piece) =>
      typeof piece === 'number' ? `(\\d{${TOKENS[piece].length}})` : piece.replace(/[^A-Za-z0-9]/g, '\\$&'),
    )
    this.#matcher = new RegExp(`^${source.join('')}$`)
  }

  /** The format, or a sentence that says what is wrong with the pattern. */
  static parse(pattern: string): DateFormat | string {
    const pieces: (string | number)[] = []
    let expected = 0
    for (const piece of pattern.split(/(YYYY|MM|DD|HH|mm|SSS|ss)/)) {
      if (piece === '') continue
      const token = (TOKENS as readonly string[]).indexOf(piece)
      if (token < 0) {
        if (/[^TZ_./: -]/.test(piece)) return `'${piece}' is not a date field (use ${TOKENS.join(' ')})`
        pieces.push(piece)
      } else if (token !== expected) {
        return `${piece} is out of order (fields run ${TOKENS.join(' ')}, without gaps)`
      } else {
        pieces.push(token)
        expected++
      }
    }
    return expected === 0 ? `it has no date field (use ${TOKENS.join(' ')})` : new DateFormat(pattern, pieces, expected)
  }

  /** The name of the slice that holds the instant; undefined when the year has no four digits. */
  format(date: Date): string | undefined {
    const fields = fieldsOf(date)
    if (!(fields[0] >= 0 && fields[0] <= 9999)) return undefined
    return this.#pieces
      .map((piece) => (typeof piece === 'number' ? String(fields[piece]).padStart(TOKENS[piece].length, '0') : piece))
      .join('')
  }

  /** The first instant of the slice with that name; undefined when the text is no such name. */
  parse(text: string): Date | undefined {
    const match = this.#matcher.exec(text)
    if (!match) return undefined
    const fields = [0, 1, 1, 0, 0, 0, 0]
    for (let i = 0; i < this.#fieldCount; i++) fields[i] = Number(match[i + 1])
    const date = dateOf(fields as unknown as Field)
    // 2024-02-31 would roll over into March: only what prints back the same is a name.
    return this.format(date) === text ? date : undefined
  }

  /** The first instant of the slice that holds the instant. */
  startOf(date: Date): Date {
    const fields = fieldsOf(date).map((field, i) => (i < this.#fieldCount ? field : i < 3 ? 1 : 0))
    return dateOf(fields as unknown as Field)
  }

  /** The first instant of the slice after the one that starts here. */
  next(start: Date): Date {
    const fields = fieldsOf(start).map((field, i) => (i === this.#fieldCount - 1 ? field + 1 : field))
    return dateOf(fields as unknown as Field)
  }
}
