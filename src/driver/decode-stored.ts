import type { MapKey, Value } from '../plan/value.js'

const STRING = 3
const GEOJSON = 23

/**
 * The list or map that raw bytes hold, as the client would return it, but for maps with bytes among their keys: those are Maps, because an
 * object has only text. Undefined for bytes that are no list or map.
 */
export function decodeStored(bytes: Uint8Array): Value | undefined {
  const reader = new StoredReader(bytes)
  try {
    const value = reader.next()
    return reader.isAtEnd && typeof value === 'object' && value !== null && !(value instanceof Uint8Array)
      ? value
      : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** A mark of the order of a list or map, which stands before its first item. */
const MARK = Symbol('mark')

/** Reads values as the server stores them: msgpack, in which texts and bytes begin with their type. */
class StoredReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  next(): Value {
    const value = this.#item()
    if (value === MARK) throw new RangeError('a mark outside of a list or map')
    return value
  }

  #item(): Value | typeof MARK {
    const type = this.#bytes.readUInt8(this.#at++)
    if (type < 0x80) return type
    if (type < 0x90) return this.#map(type & 0xf)
    if (type < 0xa0) return this.#list(type & 0xf)
    if (type < 0xc0) return this.#text(type & 0x1f)
    if (type >= 0xe0) return type - 0x100
    return this.#wide(type)
  }

  #wide(type: number): Value | typeof MARK {
    switch (type) {
      case 0xc0:
        return null
      case 0xc2:
      case 0xc3:
        return type === 0xc3
      case 0xc4:
      case 0xd9:
        return this.#text(this.#unsigned(1))
      case 0xc5:
      case 0xda:
        return this.#text(this.#unsigned(2))
      case 0xc6:
      case 0xdb:
        return this.#text(this.#unsigned(4))
      case 0xc7:
        return this.#mark(this.#unsigned(1))
      case 0xca:
        return this.#take(4).readFloatBE()
      case 0xcb:
        return this.#take(8).readDoubleBE()
      case 0xcc:
        return this.#unsigned(1)
      case 0xcd:
        return this.#unsigned(2)
      case 0xce:
        return this.#unsigned(4)
      case 0xcf:
        return integer(this.#take(8).readBigUInt64BE())
      case 0xd0:
        return this.#take(1).readInt8()
      case 0xd1:
        return this.#take(2).readInt16BE()
      case 0xd2:
        return this.#take(4).readInt32BE()
      case 0xd3:
        return integer(this.#take(8).readBigInt64BE())
      case 0xdc:
        return this.#list(this.#unsigned(2))
      case 0xdd:
        return this.#list(this.#unsigned(4))
      case 0xde:
        return this.#map(this.#unsigned(2))
      case 0xdf:
        return this.#map(this.#unsigned(4))
      default:
        throw new RangeError(`no value begins with ${type}`)
    }
  }

  #unsigned(bytes: number): number {
    return this.#take(bytes).readUIntBE(0, bytes)
  }

  #mark(length: number): typeof MARK {
    this.#take(1 + length)
    return MARK
  }

  #text(length: number): Value {
    const bytes = this.#take(length)
    if (length === 0) return ''
    return bytes[0] === STRING || bytes[0] === GEOJSON ? bytes.toString('utf8', 1) : Buffer.from(bytes.subarray(1))
  }

  #list(count: number): Value {
    const list: Value[] = []
    for (let i = 0; i < count; i++) {
      const item = this.#item()
      if (item !== MARK) list.push(item)
    }
    return list
  }

  #map(count: number): Value {
    const entries: [MapKey, Value][] = []
    for (let i = 0; i < count; i++) {
      const key = this.#item()
      const value = this.next()
      if (key !== MARK) entries.push([key as MapKey, value])
    }
    return entries.some(([key]) => key instanceof Uint8Array)
      ? new Map(entries)
      : (Object.fromEntries(entries) as { readonly [key: string]: Value })
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError('the bytes end too early')
    return this.#bytes.subarray(this.#at, (this.#at += length))
  }
}

const integer = (value: bigint): number | bigint =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
