import { ByteWriter } from '../protocol/byte-writer.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { Bytes, Extreme, Float, ListValue, MapValue, ParticleType, toInteger, type Value } from './value.js'
import { compareValues } from './compare.js'

/** Deeper nesting than this is refused, so that hostile bytes cannot exhaust the stack. */
const MAX_DEPTH = 256

const EXT_SPECIAL = 0xff

/**
 * Reads Aerospike's dialect of msgpack (WIRE: strings and bytes carry a type tag as their first byte; an ext value as
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
    let flags = 0
    let start = 0
    if (count > 0) {
      const marker = this.#orderMarker()
      if (marker !== undefined) {
        flags = marker
        start = 1
      }
    }
    const items: Value[] = []
    for (let i = start; i < count; i++) items.push(this.read())
    this.#depth--
    return new ListValue(items, flags)
  }

  #map(count: number): MapValue {
    this.#enter(count)
    let flags = 0
    let start = 0
    if (count > 0) {
      const marker = this.#orderMarker()
      if (marker !== undefined) {
        flags = marker
        start = 1
        this.read()
      }
    }
    const keys: Value[] = []
    const values: Value[] = []
    for (let i = start; i < count; i++) {
      keys.push(this.read())
      values.push(this.read())
    }
    this.#depth--
    return sortedMap(keys, values, flags)
  }
}

export class DuplicateMapKeyError extends CommandError {
  constructor() {
    super(ResultCode.PARAMETER, 'duplicate map key')
  }
}

/** A map in key order. Input that says it is ordered and is not, or that repeats a key, is refused. */
function sortedMap(keys: Value[], values: Value[], flags: number): MapValue {
  for (let i = 1; i < keys.length; i++) {
    if (compareValues(keys[i - 1], keys[i]) >= 0) {
      if (flags & 1) throw new DuplicateMapKeyError()
      return sortMap(keys, values, flags)
    }
  }
  return new MapValue(keys, values, flags)
}

function sortMap(keys: Value[], values: Value[], flags: number): MapValue {
  const order = keys.map((_, i) => i).sort((a, b) => compareValues(keys[a], keys[b]))
  const sortedKeys = order.map((i) => keys[i])
  for (let i = 1; i < sortedKeys.length; i++) {
    if (compareValues(sortedKeys[i - 1], sortedKeys[i]) === 0) throw new DuplicateMapKeyError()
  }
  return new MapValue(
    sortedKeys,
    order.map((i) => values[i]),
    flags,
  )
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

export function encodeMsgpack(value: Value): Buffer {
  const writer = new ByteWriter()
  writeMsgpack(writer, value)
  return writer.take()
}

export function writeMsgpack(writer: ByteWriter, value: Value): void {
  switch (typeof value) {
    case 'number':
      return writeInteger(writer, value)
    case 'bigint':
      writer.u8(value < 0n ? 0xd3 : 0xcf)
      return writer.i64(value)
    case 'string': {
      const length = Buffer.byteLength(value)
      writeTagHeader(writer, length, ParticleType.STRING)
      return writer.utf8(value, length)
    }
    case 'boolean':
      return writer.u8(value ? 0xc3 : 0xc2)
  }
  if (value === null) return writer.u8(0xc0)
  if (value instanceof Float) {
    writer.u8(0xcb)
    return writer.f64(value.value)
  }
  if (value instanceof Bytes) {
    if (value.tag === ParticleType.NIL) return writer.u8(0xa0)
    writeTagHeader(writer, value.bytes.length, value.tag)
    return writer.bytes(value.bytes)
  }
  if (value instanceof ListValue) return writeList(writer, value)
  if (value instanceof MapValue) return writeMap(writer, value)
  writer.u8(0xd4)
  writer.u8(EXT_SPECIAL)
  writer.u8(value === Extreme.WILDCARD ? 0 : 1)
}

function writeInteger(writer: ByteWriter, value: number): void {
  if (value >= 0) {
    if (value < 0x80) return writer.u8(value)
    if (value < 0x100) {
      writer.u8(0xcc)
      return writer.u8(value)
    }
    if (value < 0x10000) {
      writer.u8(0xcd)
      return writer.u16(value)
    }
    if (value < 0x100000000) {
      writer.u8(0xce)
      return writer.u32(value)
    }
    writer.u8(0xcf)
    return writer.i64(value)
  }
  if (value >= -0x20) return writer.u8(value & 0xff)
  if (value >= -0x80) {
    writer.u8(0xd0)
    return writer.u8(value & 0xff)
  }
  if (value >= -0x8000) {
    writer.u8(0xd1)
    return writer.u16(value & 0xffff)
  }
  if (value >= -0x80000000) {
    writer.u8(0xd2)
    return writer.u32(value >>> 0)
  }
  writer.u8(0xd3)
  writer.i64(value)
}

function writeTagHeader(writer: ByteWriter, byteLength: number, tag: number): void {
  const length = byteLength + 1
  if (length < 0x20) writer.u8(0xa0 | length)
  else if (length < 0x100) {
    writer.u8(0xd9)
    writer.u8(length)
  } else if (length < 0x10000) {
    writer.u8(0xda)
    writer.u16(length)
  } else {
    writer.u8(0xdb)
    writer.u32(length)
  }
  writer.u8(tag)
}

function writeCount(writer: ByteWriter, count: number, fix: number, wide: number): void {
  if (count < 0x10) writer.u8(fix | count)
  else if (count < 0x10000) {
    writer.u8(wide)
    writer.u16(count)
  } else {
    writer.u8(wide + 1)
    writer.u32(count)
  }
}

function writeOrderMarker(writer: ByteWriter, flags: number): void {
  writer.u8(0xc7)
  writer.u8(0)
  writer.u8(flags)
}

function writeList(writer: ByteWriter, list: ListValue): void {
  const marked = list.flags !== 0
  writeCount(writer, list.items.length + (marked ? 1 : 0), 0x90, 0xdc)
  if (marked) writeOrderMarker(writer, list.flags)
  for (const item of list.items) writeMsgpack(writer, item)
}

function writeMap(writer: ByteWriter, map: MapValue): void {
  const marked = map.flags !== 0
  writeCount(writer, map.keys.length + (marked ? 1 : 0), 0x80, 0xde)
  if (marked) {
    writeOrderMarker(writer, map.flags)
    writer.u8(0xc0)
  }
  for (let i = 0; i < map.keys.length; i++) {
    writeMsgpack(writer, map.keys[i])
    writeMsgpack(writer, map.values[i])
  }
}
