import type { BinType } from '../model/index.js'

/** The parts that a property holds: one, or those of an array or map; none where it holds no parts. */
export function embeddedParts(value: unknown, type: BinType): readonly object[] {
  if (type.kind !== 'embedded' || typeof value !== 'object' || value === null) return []
  if (type.shape !== 'array' && type.shape !== 'map') return [value]
  const entries: unknown[] = value instanceof Map ? [...(value.values() as Iterable<unknown>)] : Object.values(value)
  return entries.filter((entry): entry is object => typeof entry === 'object' && entry !== null)
}
