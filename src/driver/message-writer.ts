import { isDouble, isGeo, type MapKey, type Value } from '../plan/value.js'

// Every string and blob in Aerospike's msgpack dialect starts with a byte that says which of them it is.
const STRING = 3
const BLOB = 4
const GEOJSON = 23

/** Writes Aerospike's dialect of msgpack into one growing buffer. */
export class MessageWriter {
  #bytes = Buffer.allocUnsafe(1024)
  #length = 0

  array(size: number): this {
    return size < 16 ? this.#byte(0x90 | size) : this.#sized(0xdc, 0xdd, size)
  }

  integer(value: number | bigint): this {
    if (typeof value === 'number' && value >= 0 && value < 128) return this.#byte(value)
    if (typeof value === 'number' && value < 0 && value >= -32) return this.#byte(value & 0xff)
    return this.#wideInteger(BigInt(value))
  }

  /** A name of a bin: a string without the type byte. */
  name(text: string): this {
    const bytes = Buffer.byteLength(text)
    this.#textHeader(bytes)
    this.#reserve(bytes)
    this.#length += this.#bytes.write(text, this.#length)
    return this
  }

  value(value: Value): this {
    if (typeof value === 'string') return this.#text(STRING, value)
    if (typeof value === 'number') return Number.isInteger(value) ? this.integer(value) : this.#double(value)
    if (typeof value === 'bigint') return this.integer(value)
    if (value === null) return this.#byte(0xc0)
    if (typeof value === 'boolean') return this.#byte(value ? 0xc3 : 0xc2)
    if (isDouble(value)) return this.#double(value.value)
    if (isGeo(value)) return this.#text(GEOJSON, value.json)
    if (value instanceof Uint8Array) return this.#blob(value)
    if (Array.isArray(value)) return this.#list(value as readonly Value[])
    return this.#map(
      value instanceof Map ? [...(value as Map<Value, Value>)] : Object.entries(value as Record<string, Value>),
    )
  }

  /** Everything written so far as base64; the writer is empty again afterwards. */
  takeBase64(): string {
    const text = this.#bytes.toString('base64', 0, this.#length)
    this.#length = 0
    return text
  }

  /** Forgets a half-written message. */
  clear(): void {
    this.#length = 0
  }

  #list(items: readonly Value[]): this {
    this.array(items.length)
    for (const item of items) this.value(item)
    return this
  }

  // K-ordered, as the client sends every map: the first pair carries the order flag, the keys follow sorted.
  #map(pairs: readonly (readonly [Value, Value])[]): this {
    this.#mapHeader(pairs.length + 1)
    this.#byte(0xc7).#byte(0).#byte(1).#byte(0xc0)
    const sorted = pairs.toSorted(([a], [b]) => compareKeys(a as MapKey, b as MapKey))
    for (const [key, value] of sorted) this.value(key).value(value)
    return this
  }

  #mapHeader(size: number): this {
    return size < 16 ? this.#byte(0x80 | size) : this.#sized(0xde, 0xdf, size)
  }

  #text(tag: number, text: string): this {
    const bytes = Buffer.byteLength(text)
    this.#textHeader(bytes + 1)
    this.#byte(tag)
    this.#reserve(bytes)
    this.#length += this.#bytes.write(text, this.#length)
    return this
  }

  #blob(blob: Uint8Array): this {
    this.#textHeader(blob.byteLength + 1)
    this.#byte(BLOB)
    this.#reserve(blob.byteLength)
    this.#bytes.set(blob, this.#length)
    this.#length += blob.byteLength
    return this
  }

  #textHeader(bytes: number): this {
    if (bytes < 32) return this.#byte(0xa0 | bytes)
    if (bytes < 256) return this.#byte(0xd9).#byte(bytes)
    return this.#sized(0xda, 0xdb, bytes)
  }

  #wideInteger(value: bigint): this {
    if (value >= 0n) {
      if (value < 0x100n) return this.#fixed(0xcc, 1, value)
      if (value < 0x1_0000n) return this.#fixed(0xcd, 2, value)
      return value < 0x1_0000_0000n ? this.#fixed(0xce, 4, value) : this.#fixed(0xcf, 8, value)
    }
    if (value >= -0x80n) return this.#fixed(0xd0, 1, value)
    if (value >= -0x8000n) return this.#fixed(0xd1, 2, value)
    return value >= -0x8000_0000n ? this.#fixed(0xd2, 4, value) : this.#fixed(0xd3, 8, value)
  }

  #fixed(code: number, bytes: number, value: bigint): this {
    this.#byte(code)
    for (let shift = BigInt(8 * (bytes - 1)); shift >= 0n; shift -= 8n) this.#byte(Number((value >> shift) & 0xffn))
    return this
  }

  #sized(code16: number, code32: number, size: number): this {
    return size < 0x1_0000 ? this.#fixed(code16, 2, BigInt(size)) : this.#fixed(code32, 4, BigInt(size))
  }

  #double(value: number): this {
    this.#byte(0xcb).#reserve(8)
    this.#length = this.#bytes.writeDoubleBE(value, this.#length)
    return this
  }

  #byte(value: number): this {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
    return this
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + bytes))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

// The server's order: integers, then strings bytewise, then blobs.
function compareKeys(a: MapKey, b: MapKey): number {
  const kind = keyKind(a) - keyKind(b)
  if (kind !== 0) return kind
  if (keyKind(a) === 0) return a < b ? -1 : 1
  return Buffer.compare(keyBytes(a), keyBytes(b))
}

function keyKind(key: MapKey): number {
  return typeof key === 'string' ? 1 : key instanceof Uint8Array ? 2 : 0
}

function keyBytes(key: MapKey): Uint8Array {
  return key instanceof Uint8Array ? key : Buffer.from(String(key))
}
