import { createHash } from 'node:crypto'
import { requireFeature } from '../build.js'
import { FieldId, MAX_BIN_NAME } from '../protocol/constants.js'
import type { Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { indexContext, indexExpression, IndexKind, type IndexedType } from '../store/index-definition.js'
import { indexKey, type IndexKey } from '../store/index-keys.js'
import type { Namespace } from '../store/namespace.js'
import type { SecondaryIndex } from '../store/secondary-index.js'
import { Particle } from '../value/particle.js'
import { ParticleType } from '../value/value.js'

/** Entries of an index that a query asks for. */
export interface IndexLookup {
  readonly index: SecondaryIndex
  readonly begin: IndexKey
  readonly end: IndexKey
  /** Stand-in for a key in a reply row, so that the client can resume after it: the integer, or a hash. */
  rowValue(key: IndexKey): bigint
}

const MAX_VALUE = 2048
const NO_CONTEXT = Buffer.alloc(0)

/** The lookup of a secondary-index query; undefined for one on the primary index. */
export function indexLookup(namespace: Namespace, request: Request): IndexLookup | undefined {
  const data = request.fields?.get(FieldId.INDEX_RANGE)
  if (data === undefined) return undefined
  const { bin, type, begin, end } = parseRange(data)
  const index = findIndex(namespace, request, bin, type)
  if (index === undefined) throw new CommandError(ResultCode.INDEX_NOT_FOUND)
  if (!index.readable) throw new CommandError(ResultCode.INDEX_NOT_READABLE)
  if (type === ParticleType.INTEGER) return { index, begin, end, rowValue: (key) => BigInt(key) }
  const hash = createHash('sha1').update(String(begin), 'latin1').digest().readBigInt64LE(0)
  return { index, begin, end, rowValue: () => hash }
}

function findIndex(namespace: Namespace, request: Request, bin: string, type: IndexedType): SecondaryIndex | undefined {
  const { fields, setName } = request
  const name = fields?.get(FieldId.INDEX_NAME)
  const context = fields?.get(FieldId.INDEX_CONTEXT)
  const expression = fields?.get(FieldId.INDEX_EXPRESSION)
  if (name !== undefined) {
    requireFeature('indexNames')
    if (bin !== '' || (context ?? expression)) throw malformed('an index name beside a bin, context or expression')
    const index = namespace.indexes.get(name.toString('utf8'))
    return index?.definition.type === type ? index : undefined
  }
  const kind = fields?.get(FieldId.INDEX_TYPE)?.[0] ?? IndexKind.DEFAULT
  if (!isKind(kind)) throw malformed('index type')
  if (expression !== undefined) {
    requireFeature('expressionIndexes')
    if (bin !== '' || context) throw malformed('an expression beside a bin or context')
    const on = { setName, bin, type, kind, ...indexContext(NO_CONTEXT) }
    return namespace.indexes.find({ ...on, expression: indexExpression(expression, kind, type) })
  }
  if (bin === '') throw malformed('neither bin nor index')
  return namespace.indexes.find({ setName, bin, type, kind, ...indexContext(context ?? NO_CONTEXT) })
}

function isKind(kind: number): kind is IndexKind {
  return kind >= IndexKind.DEFAULT && kind <= IndexKind.MAP_VALUES
}

/** `1, name length, name, type, length, begin, length, end`; strings and blobs are only looked up for equality. */
function parseRange(data: Buffer): { bin: string; type: IndexedType; begin: IndexKey; end: IndexKey } {
  if (data.length < 3 || data[0] !== 1) throw malformed('range')
  const nameEnd = 2 + data[1]
  if (data[1] > MAX_BIN_NAME || nameEnd >= data.length) throw malformed('bin name')
  const bin = data.toString('utf8', 2, nameEnd)
  const type = data[nameEnd]
  const first = readValue(data, nameEnd + 1)
  if (type === ParticleType.STRING || type === ParticleType.BLOB) {
    if (type === ParticleType.BLOB) requireFeature('blobIndexes')
    if (first.length >= MAX_VALUE) throw malformed('a value that is too long')
    const key = indexKey(type, Particle.fromWire(type, first).value)!
    return { bin, type, begin: key, end: key }
  }
  if (type !== ParticleType.INTEGER) throw malformed('type')
  const begin = integerKey(first)
  const end = integerKey(readValue(data, nameEnd + 5 + first.length))
  if (begin > end) throw malformed('a range the wrong way round')
  return { bin, type, begin, end }
}

function integerKey(wire: Buffer): IndexKey {
  return indexKey(ParticleType.INTEGER, Particle.fromWire(ParticleType.INTEGER, wire).value)!
}

function readValue(data: Buffer, at: number): Buffer {
  if (at + 4 > data.length) throw malformed('range')
  const end = at + 4 + data.readUInt32BE(at)
  if (end > data.length) throw malformed('range')
  return data.subarray(at + 4, end)
}

function malformed(what: string): CommandError {
  return new CommandError(ResultCode.PARAMETER, `malformed query: ${what}`)
}
