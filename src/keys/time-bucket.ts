const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Unit that buckets of time are made of. */
type BucketUnit = 'hour' | 'day'

/** Buckets of so many hours or days. Hours are counted from midnight UTC, so that no bucket goes on past it; days from 1970-01-01. */
export interface Buckets {
  readonly unit: BucketUnit
  readonly every: number
}

/** The first instant of the bucket that an instant belongs to. */
export function bucketStart({ unit, every }: Buckets, time: number): number {
  const day = Math.floor(time / DAY)
  if (unit === 'day') return Math.floor(day / every) * every * DAY
  const hour = Math.floor((time - day * DAY) / HOUR)
  return day * DAY + Math.floor(hour / every) * every * HOUR
}

/** The first instant after the bucket that begins at `start`. */
export function bucketEnd({ unit, every }: Buckets, start: number): number {
  if (unit === 'day') return start + every * DAY
  return Math.min(start + every * HOUR, (Math.floor(start / DAY) + 1) * DAY)
}

/** The name of the bucket that an instant belongs to: `2026-11-17` or `2026-11-17-06`. Undefined outside of the years 0 to 9999. */
export function bucketName(buckets: Buckets, time: number): string | undefined {
  const start = new Date(bucketStart(buckets, time))
  const year = start.getUTCFullYear()
  if (!(year >= 0 && year <= 9999)) return undefined
  const text = start.toISOString()
  return buckets.unit === 'day' ? text.slice(0, 10) : `${text.slice(0, 10)}-${text.slice(11, 13)}`
}

/** The first instant of a bucket of that name; undefined for other text. */
export function startOfBucket({ unit }: Buckets, name: unknown): number | undefined {
  const [, day, hour] = (typeof name === 'string' && /^(\d{4}-\d\d-\d\d)(?:-(\d\d))?$/.exec(name)) || []
  if (day === undefined || (hour === undefined) !== (unit === 'day')) return undefined
  const start = Date.parse(`${day}T${hour ?? '00'}:00:00Z`)
  return Number.isNaN(start) ? undefined : start
}
