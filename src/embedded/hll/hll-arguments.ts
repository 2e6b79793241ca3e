import type { Arguments } from '../cdt/arguments.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { Bytes, ParticleType, type Value } from '../value/value.js'
import { decodeSketch } from './sketch-bytes.js'
import type { Sketch } from './sketch.js'

export function malformed(message: string): CommandError {
  return new CommandError(ResultCode.PARAMETER, message)
}

/** The elements of a list argument; an empty list is a mistake. */
export function elementsOf(args: Arguments, at: number): readonly Value[] {
  const { items } = args.list(at)
  if (items.length === 0) throw malformed('the list is empty')
  return items
}

/** Sketches that a client sends back; it does not always know that they are more than bytes. */
export function sketchesOf(args: Arguments, at: number): Sketch[] {
  return elementsOf(args, at).map((value) => {
    const isSketch = value instanceof Bytes && (value.tag === ParticleType.HLL || value.tag === ParticleType.BLOB)
    if (!isSketch) throw malformed('not a HyperLogLog sketch')
    return decodeSketch(value.bytes)
  })
}
