import { hasFeature } from '../build.js'
import { MAX_BIN_NAME } from '../protocol/constants.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import {
  indexContext,
  indexExpression,
  IndexKind,
  type IndexDefinition,
  type IndexedType,
} from '../store/index-definition.js'
import type { SecondaryIndex } from '../store/secondary-index.js'
import { ParticleType } from '../value/value.js'

const TYPES: Readonly<Record<string, IndexedType>> = {
  numeric: ParticleType.INTEGER,
  string: ParticleType.STRING,
  blob: ParticleType.BLOB,
  geo2dsphere: ParticleType.GEOJSON,
}

const KINDS: Readonly<Record<string, IndexKind>> = {
  default: IndexKind.DEFAULT,
  list: IndexKind.LIST,
  mapkeys: IndexKind.MAP_KEYS,
  mapvalues: IndexKind.MAP_VALUES,
  set: IndexKind.SET,
}

const NO_CONTEXT = Buffer.alloc(0)

/** Reads the parameters of `sindex-create`, in the form `bin=…;type=…` or the older `indexdata=bin,type`. */
export function parseIndexDefinition(parameters: ReadonlyMap<string, string>): IndexDefinition {
  const kind = valueOf(KINDS, parameters.get('indextype') ?? 'default')
  if (kind === undefined || (kind === IndexKind.SET && !hasFeature('setIndexes'))) throw refused("bad 'indextype'")
  const setName = parameters.get('set') ?? ''
  if (setName.includes(':')) throw refused("bad 'set'")
  if (kind === IndexKind.SET) return setIndex(setName)
  const [bin, typeName] = binAndType(parameters)
  const exp = hasFeature('expressionIndexes') ? parameters.get('exp') : undefined
  if (exp !== undefined && (bin ?? parameters.get('context'))) throw refused("'exp' beside 'bin' or 'context'")
  if (exp === undefined && !bin) throw refused("missing 'bin'")
  if (bin && Buffer.byteLength(bin) > MAX_BIN_NAME) throw refused('bin name too long')
  const type = valueOf(TYPES, typeName ?? '')
  if (type === undefined || (type === ParticleType.BLOB && !hasFeature('blobIndexes'))) throw refused("bad 'type'")
  if (kind === IndexKind.MAP_KEYS && type === ParticleType.GEOJSON) throw refused("bad 'type' for 'mapkeys'")
  const on = { setName, bin: bin ?? '', type, kind, ...indexContext(decodeBase64(parameters, 'context')) }
  if (exp === undefined) return on
  return { ...on, expression: indexExpression(decodeBase64(parameters, 'exp'), kind, type) }
}

/** An entry of `sindex-list`. */
export function describeIndex(index: SecondaryIndex): string {
  const { setName, bin, type, kind, contextBytes, expression } = index.definition
  const names = { ns: index.namespace.name, indexname: index.name, set: setName || 'null' }
  const kindName = nameOf(KINDS, kind)
  const pairs =
    kind === IndexKind.SET
      ? { ...names, indextype: kindName }
      : {
          ...names,
          bin: bin || 'null',
          type: nameOf(TYPES, type),
          indextype: kindName,
          context: contextBytes.length === 0 ? 'null' : contextBytes.toString('base64'),
          ...(hasFeature('expressionIndexes') && { exp: expression?.bytes.toString('base64') ?? 'null' }),
          state: index.readable ? 'RW' : 'WO',
        }
  return Object.entries(pairs)
    .map(([key, value]) => `${key}=${value}`)
    .join(':')
}

/** Lists the records of a set faster on a real server; there is nothing to be found by it. */
function setIndex(setName: string): IndexDefinition {
  if (setName === '') throw refused("missing 'set'")
  return { setName, bin: '', type: ParticleType.INTEGER, kind: IndexKind.SET, contextBytes: NO_CONTEXT, context: [] }
}

function binAndType(parameters: ReadonlyMap<string, string>): [string | undefined, string | undefined] {
  const data = parameters.get('indexdata')
  if (data === undefined) return [parameters.get('bin'), parameters.get('type')]
  const comma = data.indexOf(',')
  return comma < 0 ? [data, undefined] : [data.slice(0, comma), data.slice(comma + 1)]
}

function decodeBase64(parameters: ReadonlyMap<string, string>, name: string): Buffer {
  const text = parameters.get(name)
  if (text === undefined) return NO_CONTEXT
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.toString('base64').replace(/=+$/, '') !== text.replace(/=+$/, '')) {
    throw refused(`'${name}' invalid base64`)
  }
  return bytes
}

/** Names that every object has, such as `constructor`, are none of the table's. */
function valueOf<V>(table: Readonly<Record<string, V>>, name: string): V | undefined {
  const key = name.toLowerCase()
  return Object.hasOwn(table, key) ? table[key] : undefined
}

function nameOf<V>(table: Readonly<Record<string, V>>, value: V): string {
  return Object.keys(table).find((key) => table[key] === value)!
}

function refused(message: string): CommandError {
  return new CommandError(ResultCode.PARAMETER, message)
}
