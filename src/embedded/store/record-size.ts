import type { Particle } from '../value/particle.js'

/** Bytes of every record on a device: header, digest, times, generation, number of bins and end mark. */
const FIXED = 40
const VOID_TIME = 4
/** Sizes and counts up to this take one byte, larger ones two. */
const ONE_BYTE = 127
/** Records on a device begin at multiples of this. */
const UNIT = 16

/** Bytes that a record which is not stored yet takes, as expressions see it. */
export const NO_RECORD_SIZE = UNIT

/** Bytes a record takes on a device, as a real server counts them. */
export function recordSize(
  bins: ReadonlyMap<string, Particle>,
  setName: string,
  storedKey: Particle | undefined,
  voidTime: number,
): number {
  let size = FIXED
  if (setName !== '') size += 1 + Buffer.byteLength(setName)
  if (voidTime !== 0) size += VOID_TIME
  if (bins.size > ONE_BYTE) size++
  if (storedKey) size += keySize(storedKey)
  for (const [name, particle] of bins) size += 1 + nameSize(name) + particle.storedSize
  return Math.ceil(size / UNIT) * UNIT
}

/** Bytes of the name of a bin: a short text, nearly always ASCII, which is seen sooner than a native call is made. */
function nameSize(name: string): number {
  for (let i = 0; i < name.length; i++) if (name.charCodeAt(i) > 0x7f) return Buffer.byteLength(name)
  return name.length
}

function keySize(key: Particle): number {
  const withType = key.size + 1
  return withType + (withType > ONE_BYTE ? 2 : 1)
}
