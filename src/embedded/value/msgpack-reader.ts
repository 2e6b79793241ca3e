import { CommandError, ResultCode } from '../protocol/result-code.js'
import { Bytes, Extreme, Float, ListValue, MapValue, ParticleType, toInteger, type Value } from './value.js'
import { sortedMap } from './sorted-map.js'

/** Deeper nesting than this is refused, so that hostile bytes cannot exhaust the stack. */
const MAX_DEPTH = 256

const EXT_SPECIAL = 0xff

/**
 * Reads Aerospike's dialect of msgpack (strings and bytes carry a type tag as their first byte; an ext value as
 * first element gives a list's or a map's order).
 */
export class MsgpackReader {
  #depth = 0

  constructor(
    readonly buffer: Buffer,
    public position = 0,
    readonly end = buffer.length,
  ) {}

  get done(): boolean {
    return this.position >= this.end
  }

  read(): Value {
    const code = this.#byte()
    if (code < 0x80) return code
    if (code < 0x90) return this.#map(code & 0x0f)
    if (code < 0xa0) return this.#list(code & 0x0f)
    if (code < 0xc0) return this.#tagged(code & 0x1f)
    if (code >= 0xe0) return code - 0x100
    switch (code) {
      case 0xc0:
        return null
      case 0xc2:
        return false
      case 0xc3:
        return true
      case 0xc4:
      case 0xd9:
        return this.#tagged(this.#byte())
      case 0xc5:
      case 0xda:
        return this.#tagged(this.#u16())
      case 0xc6:
      case 0xdb:
        return this.#tagged(this.#u32())
      case 0xca:
        return new Float(this.buffer.readFloatBE(this.#take(4)))
      case 0xcb:
        return new Float(this.buffer.readDoubleBE(this.#take(8)))
      case 0xcc:
        return this.#byte()
      case 0xcd:
        return this.#u16()
      case 0xce:
        return this.#u32()
      case 0xcf:
      case 0xd3:
        return toInteger(this.buffer.readBigInt64BE(this.#take(8)))
      case 0xd0:
        return this.buffer.readInt8(this.#take(1))
      case 0xd1:
        return this.buffer.readInt16BE(this.#take(2))
      case 0xd2:
        return this.buffer.readInt32BE(this.#take(4))
      case 0xd4:
        return this.#special()
      case 0xdc:
        return this.#list(this.#u16())
      case 0xdd:
        return this.#list(this.#u32())
      case 0xde:
        return this.#map(this.#u16())
      case 0xdf:
        return this.#map(this.#u32())
    }
    throw malformed()
  }

  /** The element count of the list that starts here; its elements follow. An order marker counts as an element. */
  listHeader(): number {
    const code = this.#byte()
    if (code >= 0x90 && code < 0xa0) return code & 0x0f
    if (code === 0xdc) return this.#u16()
    if (code === 0xdd) return this.#u32()
    throw malformed()
  }

  /** True when a list starts here. */
  atList(): boolean {
    const code = this.buffer[this.position]
    return (code >= 0x90 && code < 0xa0) || code === 0xdc || code === 0xdd
  }

  /** A plain string without a type tag (bin names, variable names, regular expressions inside expressions). */
  readPlainString(): string {
    const code = this.#byte()
    let length: number
    if (code >= 0xa0 && code < 0xc0) length = code & 0x1f
    else if (code === 0xd9 || code === 0xc4) length = this.#byte()
    else if (code === 0xda || code === 0xc5) length = this.#u16()
    else if (code === 0xdb || code === 0xc6) length = this.#u32()
    else throw malformed()
    const at = this.#take(length)
    return this.buffer.toString('utf8', at, at + length)
  }

  #byte(): number {
    return this.buffer[this.#take(1)]
  }

  #u16(): number {
    return this.buffer.readUInt16BE(this.#take(2))
  }

  #u32(): number {
    return this.buffer.readUInt32BE(this.#take(4))
  }

  #take(size: number): number {
    const at = this.position
    if (at + size > this.end) throw malformed()
    this.position = at + size
    return at
  }

  #tagged(length: number): Value {
    if (length === 0) return new Bytes(ParticleType.NIL, EMPTY)
    const at = this.#take(length)
    const tag = this.buffer[at]
    if (tag === ParticleType.STRING) return decodeString(this.buffer, at + 1, at + length)
    return new Bytes(tag, Buffer.from(this.buffer.subarray(at + 1, at + length)))
  }

  #special(): Value {
    const type = this.#byte()
    const which = this.#byte()
    if (type === EXT_SPECIAL && which === 0) return Extreme.WILDCARD
    if (type === EXT_SPECIAL && which === 1) return Extreme.INFINITY
    throw malformed()
  }

  /** The flags of an order marker (`c7 00 flags`) if one stands here. */
  #orderMarker(): number | undefined {
    if (this.buffer[this.position] !== 0xc7 || this.position >= this.end) return undefined
    const at = this.#take(3)
    if (this.buffer[at + 1] !== 0) throw malformed()
    return this.buffer[at + 2]
  }

  #enter(count: number): void {
    if (++this.#depth > MAX_DEPTH || count > this.end - this.position) throw malformed()
  }

  #list(count: number): ListValue {
    this.#enter(count)
    const order = count === 0 ? undefined : this.#orderMarker()
    const items: Value[] = []
    for (let i = order === undefined ? 0 : 1; i < count; i++) items.push(this.read())
    this.#depth--
    return new ListValue(items, order ?? 0)
  }

  #map(count: number): MapValue {
    this.#enter(count)
    const order = count === 0 ? undefined : this.#orderMarker()
    if (order !== undefined) this.read()
    const keys: Value[] = []
    const values: Value[] = []
    for (let i = order === undefined ? 0 : 1; i < count; i++) {
      keys.push(this.read())
      values.push(this.read())
    }
    this.#depth--
    return sortedMap(keys, values, order ?? 0)
  }
}

const EMPTY = Buffer.alloc(0)

function malformed(): CommandError {
  return new CommandError(ResultCode.PARAMETER, 'malformed msgpack')
}

/** A JavaScript string, or the bytes themselves where they are not valid UTF-8. */
export function decodeString(buffer: Buffer, start: number, end: number): string | Bytes {
  const text = buffer.toString('utf8', start, end)
  if (text.includes('\ufffd') && !Buffer.from(text).equals(buffer.subarray(start, end))) {
    return new Bytes(ParticleType.STRING, Buffer.from(buffer.subarray(start, end)))
  }
  return text
}

export function decodeMsgpack(buffer: Buffer): Value {
  const reader = new MsgpackReader(buffer)
  const value = reader.read()
  if (!reader.done) throw malformed()
  return value
}
