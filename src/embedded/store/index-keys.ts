import { readAt } from '../cdt/index.js'
import { evaluate } from '../expression/index.js'
import { CommandError } from '../protocol/result-code.js'
import type { Particle } from '../value/particle.js'
import { Bytes, isInteger, ListValue, MapValue, ParticleType, type Value } from '../value/value.js'
import { IndexKind, type IndexDefinition, type IndexedType } from './index-definition.js'
import type { RecordState } from './record-state.js'

/** Integers as they are; strings and blobs with one character for each byte. */
export type IndexKey = number | bigint | string

const NO_KEYS: readonly IndexKey[] = []

/** The keys under which a bin is found, each once. */
export function binKeys(definition: IndexDefinition, particle: Particle): readonly IndexKey[] {
  return keysOf(definition, resolve(definition, particle))
}

/** The keys under which the value of the index's expression is found; an unknown value has none. */
export function expressionKeys(definition: IndexDefinition, state: RecordState): readonly IndexKey[] {
  return keysOf(definition, evaluate(definition.expression!.compiled, state))
}

function keysOf(definition: IndexDefinition, target: Value | undefined): readonly IndexKey[] {
  if (target === undefined) return NO_KEYS
  if (definition.kind === IndexKind.DEFAULT) {
    const key = indexKey(definition.type, target)
    return key === undefined ? NO_KEYS : [key]
  }
  const keys = new Set<IndexKey>()
  for (const value of elements(definition.kind, target)) {
    const key = indexKey(definition.type, value)
    if (key !== undefined) keys.add(key)
  }
  return [...keys]
}

/** The indexed value of a bin; undefined where the context leads nowhere. */
function resolve({ context }: IndexDefinition, particle: Particle): Value | undefined {
  if (context.length === 0) return particle.value
  if (particle.type !== ParticleType.LIST && particle.type !== ParticleType.MAP) return undefined
  try {
    return readAt(particle.value, context)
  } catch (error) {
    if (error instanceof CommandError) return undefined
    throw error
  }
}

function elements(kind: IndexKind, container: Value): readonly Value[] {
  if (kind === IndexKind.LIST) return container instanceof ListValue ? container.items : []
  if (!(container instanceof MapValue)) return []
  return kind === IndexKind.MAP_KEYS ? container.keys : container.values
}

/** The key of a value, or undefined where an index of this type does not hold it. */
export function indexKey(type: IndexedType, value: Value): IndexKey | undefined {
  switch (type) {
    case ParticleType.INTEGER:
      return isInteger(value) ? value : undefined
    case ParticleType.STRING:
      if (typeof value === 'string') return stringKey(value)
      return value instanceof Bytes && value.tag === type ? value.bytes.toString('latin1') : undefined
    case ParticleType.BLOB:
      return value instanceof Bytes && value.tag === type ? value.bytes.toString('latin1') : undefined
    case ParticleType.GEOJSON:
      return undefined
  }
}

function stringKey(value: string): string {
  return /^[\0-\x7f]*$/.test(value) ? value : Buffer.from(value).toString('latin1')
}
