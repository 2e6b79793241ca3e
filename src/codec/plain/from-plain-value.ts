import { types } from 'node:util'
import type { BinType, MapKeyKind } from '../../model/index.js'

/** Makes a part of plain data, by the name of its class. */
type MakePart = (name: string, fields: object) => object

/** A value as JSON holds it, in the type its property has. What fits no rule stays as it is: saving it will say what is wrong. */
export function fromPlainValue(type: BinType, value: unknown, part: MakePart): unknown {
  switch (type.kind) {
    case 'date':
      return toDate(value)
    case 'bigint':
      return toBigint(value)
    case 'bytes':
      return toBytes(value)
    case 'list':
      return Array.isArray(value)
        ? value.map((item) => orNull(item, (each) => fromPlainValue(type.item, each, part)))
        : value
    case 'tuple':
      return Array.isArray(value)
        ? value.map((item, i) =>
            i < type.items.length
              ? orNull(item, (each) => fromPlainValue(type.items[i], each, part))
              : (item as unknown),
          )
        : value
    case 'set':
      return toSet(value, (item) => orNull(item, (each) => fromPlainValue(type.item, each, part)))
    case 'map':
      return toMap(type.key, value, (item) => orNull(item, (each) => fromPlainValue(type.value, each, part)))
    case 'embedded':
      return toParts(type, value, (fields) => toPart(type.part, fields, part))
    default:
      return value
  }
}

function toParts(
  type: Extract<BinType, { kind: 'embedded' }>,
  value: unknown,
  one: (fields: unknown) => unknown,
): unknown {
  if (type.shape === 'array') return Array.isArray(value) ? value.map(one) : value
  return type.shape === 'map' ? toMap(type.key, value, one) : one(value)
}

// An instance stays: class-transformer's own @Type has made it.
const toPart = (name: string, fields: unknown, part: MakePart): unknown =>
  typeof fields === 'object' && fields !== null && Object.getPrototypeOf(fields) === Object.prototype
    ? part(name, fields)
    : fields

function toDate(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? value : date
}

// More digits than 64 bits have are neither keys nor values: reading them would take long for nothing.
function toBigint(value: unknown): unknown {
  if (typeof value === 'string' && /^-?[0-9]{1,20}$/.test(value)) return BigInt(value)
  return Number.isSafeInteger(value) ? BigInt(value as number) : value
}

// Node skips what is not base64: any text would become some bytes, and several texts the same ones.
function toBytes(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const bytes = Buffer.from(value, 'base64')
  return bytes.toString('base64') === value ? bytes : value
}

const orNull = (item: unknown, convert: (item: unknown) => unknown): unknown => (item === null ? null : convert(item))

// class-transformer may have made the Set or Map already, but not what is in it.
function toSet(value: unknown, item: (value: unknown) => unknown): unknown {
  return Array.isArray(value) || types.isSet(value) ? new Set([...(value as Iterable<unknown>)].map(item)) : value
}

function toMap(keyKind: MapKeyKind, value: unknown, item: (value: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = types.isMap(value) ? [...value] : Object.entries(value)
  return new Map(entries.map(([key, each]) => [toMapKey(keyKind, key), item(each)]))
}

function toMapKey(kind: MapKeyKind, key: unknown): unknown {
  if (kind === 'string' || typeof key !== 'string') return key
  if (kind === 'bytes') return toBytes(key)
  return kind === 'int' ? Number(key) : toBigint(key)
}
