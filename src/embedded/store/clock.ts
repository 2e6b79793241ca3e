/** Aerospike counts its seconds from 2010-01-01T00:00:00Z. */
const EPOCH_2010_SECONDS = 1262304000

let offset = 0

/** Whole milliseconds since the Unix epoch, as this server sees it. */
export function nowMillis(): number {
  return Date.now() + offset
}

export function nowSeconds(): number {
  return Math.floor(nowMillis() / 1000) - EPOCH_2010_SECONDS
}

export function toUnixSeconds(seconds2010: number): number {
  return seconds2010 + EPOCH_2010_SECONDS
}

/** By how many milliseconds this server is ahead. */
export function clockOffset(): number {
  return offset
}

export function setClockOffset(milliseconds: number): void {
  offset = milliseconds
}

/** Lets tests see records and transactions expire without waiting. */
export function advanceClock(seconds: number): void {
  offset += Math.round(seconds * 1000)
}
