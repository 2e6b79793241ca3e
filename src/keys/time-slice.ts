import { shown, SkeinError } from '../errors/index.js'
import type { DateFormat } from './date-format.js'
import type { KeyFormat } from './key-format.js'
import { describeKey } from './key-value.js'

/** From `from` (included) to `to` (not included). */
export interface TimeRange {
  readonly from: Date
  readonly to: Date
}

/** A range that needs more keys than this is refused unless the caller raises it: it is most often a wrong year. */
const MAX_SLICES = 10_000
/** Upper bound for callers, too: all keys of a range are made at once. */
const MOST_SLICES = 100_000

/** Throws where a range is none, or ends before it begins. */
export function checkTimeRange(range: TimeRange): TimeRange {
  const { from, to } = (range ?? {}) as Partial<TimeRange>
  if (from instanceof Date && to instanceof Date && from.getTime() <= to.getTime()) return range
  throw badRange(
    'The time range is not valid, or ends before it begins.',
    'Give { from, to } as Dates, with from ≤ to.',
  )
}

/** The first instants of the slices that cover the range, in order. */
export function timeSlices(format: DateFormat, { from, to }: TimeRange, max = MAX_SLICES): readonly Date[] {
  if (!Number.isSafeInteger(max) || max < 1)
    throw badRange(
      `${shown(max)} is not a number of slices.`,
      'Give a whole number of at least 1 as max, or leave it out.',
    )
  if (max > MOST_SLICES)
    throw badRange(
      `A range can have at most ${MOST_SLICES} slices, not ${max}.`,
      `Give a max of at most ${MOST_SLICES}, and ask for several shorter ranges one after the other.`,
    )
  checkTimeRange({ from, to })
  const slices: Date[] = []
  // The slice that an empty range lies in would be read for nothing.
  if (from.getTime() === to.getTime()) return slices
  for (let start = format.startOf(from); start < to; start = format.next(start)) {
    if (slices.length === max) {
      throw badRange(
        `The time range takes more than ${max} slices of one ${format.unit}.`,
        'Narrow it, or pass a larger max.',
      )
    }
    slices.push(start)
  }
  return slices
}

/**
 * The keys that cover a range of time: one for each slice of the template's date placeholder, with the other parts as given.
 *
 * @example
 * sliceKeys(format, { sensorId: 7 }, { from: new Date('2024-05-01'), to: new Date('2024-05-03') })
 * // ['sensor:7:2024-05-01', 'sensor:7:2024-05-02']
 */
export function sliceKeys(
  format: KeyFormat,
  parts: Readonly<Record<string, unknown>>,
  range: TimeRange,
  max = MAX_SLICES,
): readonly string[] {
  if (typeof range !== 'object' || range === null)
    throw badRange(
      `${describeKey(range)} is not a time range.`,
      'Give { from, to } as Dates, with from ≤ to.',
      format.className,
    )
  const { date, property } = slicedPart(format, parts)
  const { from, to } = range
  const hasNoName = (at: Date): boolean => date.format(at) === undefined
  if (from instanceof Date && to instanceof Date && from < to && (hasNoName(from) || hasNoName(new Date(+to - 1))))
    throw badRange('The time range leaves the years 0 to 9999.', 'Narrow it.', format.className)
  return timeSlices(date, range, max).map((start) =>
    format.format({ ...parts, [property]: format.partOf(property, date.format(start)!) }),
  )
}

interface SlicedPart {
  readonly property: string
  readonly date: DateFormat
}

/** The date of the template that the range fills in: the only one that the parts leave out. */
function slicedPart({ template, className }: KeyFormat, parts: Readonly<Record<string, unknown>>): SlicedPart {
  const dates = template.placeholders.filter((part): part is SlicedPart => part.date !== undefined)
  if (dates.length === 0) throw noSlices(className, `'${template.text}'`)
  const open = dates.filter(({ property }) => parts[property] === undefined)
  if (open.length === 1) return open[0]
  const names = dates.map(({ property }) => property).join(', ')
  throw badRange(
    `The key '${template.text}' of ${className} has ${open.length === 0 ? 'no date' : 'more than one date'} left for the time range.`,
    dates.length === 1
      ? `Leave ${names} out of the parts: the range says it.`
      : `Give all but one of ${names} in the parts.`,
    className,
  )
}

export const noSlices = (className: string, key: string): SkeinError =>
  badRange(
    `The key of ${className} (${key}) has no slice of time.`,
    'Put one in its template, for instance {day|YYYY-MM-DD}.',
    className,
  )

const badRange = (message: string, fix: string, className?: string): SkeinError =>
  new SkeinError('SKEIN_2106', message, { className, fix })
