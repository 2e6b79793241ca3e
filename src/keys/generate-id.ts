import { randomFillSync, randomUUID } from 'node:crypto'

/** Ways to make a key for a new entity that has none. */
type IdGenerator = 'uuid' | 'sortable'

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const TIME_DIGITS = 10
const RANDOM_DIGITS = 16

let lastTime = -1
const lastRandom = new Uint8Array(RANDOM_DIGITS)

/** A random UUID (version 4). */
export const uuid = (): string => randomUUID()

/**
 * An id of 26 characters that begins with the time: later ids are greater as text, also within one millisecond of one process.
 * The id is a ULID: 48 bits of time, then 80 random bits.
 */
export function sortableId(now: number = Date.now()): string {
  if (now > lastTime) {
    lastTime = now
    randomFillSync(lastRandom)
    for (let i = 0; i < RANDOM_DIGITS; i++) lastRandom[i] &= 31
    // A first bit of 0 leaves room to count up from here for as long as the millisecond lasts.
    lastRandom[0] &= 15
  } else {
    countUp()
  }
  let time = ''
  for (let i = 0, rest = lastTime; i < TIME_DIGITS; i++, rest = Math.floor(rest / 32)) time = DIGITS[rest % 32] + time
  let random = ''
  for (const digit of lastRandom) random += DIGITS[digit]
  return time + random
}

function countUp(): void {
  let i = RANDOM_DIGITS - 1
  while (lastRandom[i] === 31) lastRandom[i--] = 0
  lastRandom[i]++
}

/** The time at which a sortable id was made. */
export function sortableIdTime(id: string): Date {
  let time = 0
  for (const char of id.slice(0, TIME_DIGITS)) time = time * 32 + DIGITS.indexOf(char)
  return new Date(time)
}

/** Makes an id of the kind the model asks for. */
export const generateId = (generator: IdGenerator): string => (generator === 'uuid' ? uuid() : sortableId())
