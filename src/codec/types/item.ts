import type { Value } from '../../plan/value.js'
import type { TypeCodec } from '../type-codec.js'
import { ValueProblem } from '../value-problem.js'

// Inside a list, set or map null is a value of its own; only a bin or a field is removed by it.

export function encodeItem(codec: TypeCodec, value: unknown, depth: number): Value {
  if (value === null) return null
  if (value !== undefined) return codec.encode(value, depth + 1)
  throw new ValueProblem('undefined would come back as null', 'Use null, or leave it out.')
}

export const decodeItem = (codec: TypeCodec, stored: Value | undefined): unknown =>
  stored === null || stored === undefined ? null : codec.decode(stored)

export const snapshotItem = (codec: TypeCodec, value: unknown): unknown =>
  value === null || value === undefined ? null : codec.snapshot(value)

export const isSameItem = (codec: TypeCodec, value: unknown, snapshot: unknown): boolean =>
  value === null || value === undefined || snapshot === null ? value === snapshot : codec.same(value, snapshot)
