import { Bytes, Extreme, Float, ListValue, MapValue, ParticleType, type Value } from '../value/value.js'

/** The static types of expressions, with their ids on the wire. */
export const ExpressionType = {
  NIL: 0,
  BOOL: 1,
  INTEGER: 2,
  STRING: 3,
  LIST: 4,
  MAP: 5,
  BLOB: 6,
  FLOAT: 7,
  GEOJSON: 8,
  HLL: 9,
  /** Of `resultRemove`, which only a change by path can have as its value; has no id on the wire. */
  REMOVAL: -1,
} as const
export type ExpressionType = (typeof ExpressionType)[keyof typeof ExpressionType]

export function isExpressionType(id: number | bigint): id is ExpressionType {
  return id >= ExpressionType.NIL && id <= ExpressionType.HLL
}

/** The type of a value, or undefined for what no expression can hold (wildcards, blobs of other languages). */
export function typeOfValue(value: Value): ExpressionType | undefined {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return ExpressionType.INTEGER
    case 'string':
      return ExpressionType.STRING
    case 'boolean':
      return ExpressionType.BOOL
  }
  if (value === null) return ExpressionType.NIL
  if (value instanceof Float) return ExpressionType.FLOAT
  if (value instanceof ListValue) return ExpressionType.LIST
  if (value instanceof MapValue) return ExpressionType.MAP
  if (value instanceof Extreme) return undefined
  return typeOfBytes(value)
}

function typeOfBytes(value: Bytes): ExpressionType | undefined {
  switch (value.tag) {
    case ParticleType.BLOB:
      return ExpressionType.BLOB
    case ParticleType.STRING:
      return ExpressionType.STRING
    case ParticleType.GEOJSON:
      return ExpressionType.GEOJSON
    case ParticleType.HLL:
      return ExpressionType.HLL
  }
  return undefined
}
