import { parseContext, type ContextLevel } from '../cdt/index.js'
import { compileExpression, ExpressionType, type CompiledExpression } from '../expression/index.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { decodeMsgpack } from '../value/msgpack-reader.js'
import { ParticleType } from '../value/value.js'

/** Indexed part of a bin, with the ids on the wire. */
export const IndexKind = { DEFAULT: 0, LIST: 1, MAP_KEYS: 2, MAP_VALUES: 3, SET: 4 } as const
export type IndexKind = (typeof IndexKind)[keyof typeof IndexKind]

/** Types of values that are indexed. Geo indexes can be made, as clients do, but nothing is ever found by them. */
export type IndexedType =
  typeof ParticleType.INTEGER | typeof ParticleType.STRING | typeof ParticleType.BLOB | typeof ParticleType.GEOJSON

/** Source of an index; unique within a namespace. */
export interface IndexDefinition {
  /** Empty = all sets. */
  readonly setName: string
  /** Empty where an expression is indexed. */
  readonly bin: string
  readonly type: IndexedType
  readonly kind: IndexKind
  /** The way from the bin to the indexed value, as it came over the wire; empty for the bin itself. */
  readonly contextBytes: Buffer
  readonly context: readonly ContextLevel[]
  /** The expression whose value is indexed in place of a bin. */
  readonly expression?: IndexExpression
}

interface IndexExpression {
  readonly bytes: Buffer
  readonly compiled: CompiledExpression
}

export function sameDefinition(a: IndexDefinition, b: IndexDefinition): boolean {
  return (
    a.setName === b.setName &&
    a.bin === b.bin &&
    a.type === b.type &&
    a.kind === b.kind &&
    a.contextBytes.equals(b.contextBytes) &&
    sameExpression(a.expression, b.expression)
  )
}

function sameExpression(a: IndexExpression | undefined, b: IndexExpression | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.bytes.equals(b.bytes)
}

/** A context as it stands in an index and in a query on it; one that would create something cannot be indexed. */
export function indexContext(bytes: Buffer): Pick<IndexDefinition, 'contextBytes' | 'context'> {
  if (bytes.length === 0) return { contextBytes: bytes, context: [] }
  const context = parseContext(decodeMsgpack(bytes))
  if (context.some((level) => level.create !== 0)) {
    throw new CommandError(ResultCode.PARAMETER, "'context' would create")
  }
  return { contextBytes: Buffer.from(bytes), context }
}

const SCALARS = new Map<IndexedType, ExpressionType>([
  [ParticleType.INTEGER, ExpressionType.INTEGER],
  [ParticleType.STRING, ExpressionType.STRING],
  [ParticleType.BLOB, ExpressionType.BLOB],
  [ParticleType.GEOJSON, ExpressionType.GEOJSON],
])

/** Compiles the expression of an index, whose type must be what the index holds. */
export function indexExpression(bytes: Buffer, kind: IndexKind, type: IndexedType): IndexExpression {
  const compiled = compileExpression(bytes)
  const wanted =
    kind === IndexKind.DEFAULT ? SCALARS.get(type) : kind === IndexKind.LIST ? ExpressionType.LIST : ExpressionType.MAP
  if (compiled.type !== wanted) throw new CommandError(ResultCode.PARAMETER, "'exp' has another type than the index")
  return { bytes: Buffer.from(bytes), compiled }
}
