import type { ByteWriter } from '../protocol/byte-writer.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { decodeMsgpack, decodeString } from './msgpack-reader.js'
import { encodeMsgpack } from './msgpack-writer.js'
import { DuplicateMapKeyError } from './sorted-map.js'
import { encodedSize } from './encoded-size.js'
import { Bytes, Float, ListValue, MapValue, ParticleType, particleTypeOf, toInteger, type Value } from './value.js'

const GEO_HEADER = Buffer.from([0, 0, 0])

/**
 * The content of a bin: its wire bytes, its decoded value, or both. Each form is made from the other when it is first
 * needed, so a plain put and get never decode, and list or map operations do not encode until somebody reads the bin.
 */
export class Particle {
  #wire: Buffer | undefined
  #value: Value | undefined
  /** Bytes in a stored record; negative while nobody has asked, and of lists and maps, which remember their own. */
  #storedSize = -1

  private constructor(
    readonly type: number,
    wire: Buffer | undefined,
    value: Value | undefined,
  ) {
    this.#wire = wire
    this.#value = value
  }

  /** `wire` must not be shared with a buffer that is reused. */
  static fromWire(type: number, wire: Buffer): Particle {
    switch (type) {
      case ParticleType.LIST:
      case ParticleType.MAP:
        return Particle.#fromContainer(type, wire)
      case ParticleType.INTEGER:
      case ParticleType.DOUBLE:
        if (wire.length !== 8) throw new CommandError(ResultCode.PARAMETER, 'a number must have 8 bytes')
        break
      case ParticleType.GEOJSON:
        return new Particle(type, undefined, new Bytes(type, wire.subarray(3 + 8 * (wire.readUInt16BE(1) || 0))))
    }
    return new Particle(type, wire, undefined)
  }

  /** Content that was checked when it was stored. */
  static fromStored(type: number, wire: Buffer): Particle {
    return type === ParticleType.GEOJSON ? Particle.fromWire(type, wire) : new Particle(type, wire, undefined)
  }

  /** Lists and maps are checked when they arrive, as the server does; maps are kept in key order. */
  static #fromContainer(type: number, wire: Buffer): Particle {
    let value: Value
    try {
      value = decodeMsgpack(wire)
    } catch (error) {
      throw error instanceof DuplicateMapKeyError ? new CommandError(ResultCode.UNKNOWN, error.message) : error
    }
    const container = type === ParticleType.LIST ? ListValue : MapValue
    if (!(value instanceof container)) throw new CommandError(ResultCode.PARAMETER, 'not a list or map')
    return new Particle(type, undefined, value)
  }

  static fromValue(value: Value): Particle {
    return new Particle(particleTypeOf(value), undefined, value)
  }

  get value(): Value {
    return (this.#value ??= decodeWire(this.type, this.#wire!))
  }

  get wire(): Buffer {
    return (this.#wire ??= encodeWire(this.type, this.#value!))
  }

  /** Bytes this particle takes in a stored record, with its type and, where that varies, its length. */
  get storedSize(): number {
    if (this.#storedSize >= 0) return this.#storedSize
    const size = this.#measure()
    if (this.type !== ParticleType.LIST && this.type !== ParticleType.MAP) this.#storedSize = size
    return size
  }

  #measure(): number {
    switch (this.type) {
      case ParticleType.INTEGER:
        return 2 + storedIntegerSize(this.#value ?? this.#wire!)
      case ParticleType.DOUBLE:
        return 9
      case ParticleType.BOOL:
        return 2
    }
    return 5 + this.size
  }

  /** Bytes of the value on the wire. */
  get size(): number {
    if (this.#wire !== undefined) return this.#wire.length
    const value = this.#value
    if (value instanceof ListValue || value instanceof MapValue) return encodedSize(value)
    return this.wire.length
  }

  write(writer: ByteWriter): void {
    writer.bytes(this.wire)
  }
}

/** The fewest of 1, 2, 4 or 8 bytes that hold it; a negative integer takes 8. */
function storedIntegerSize(integer: Value | Buffer): number {
  if (Buffer.isBuffer(integer)) {
    if (integer.readUInt32BE(0) !== 0) return 8
    return unsignedSize(integer.readUInt32BE(4))
  }
  return typeof integer === 'number' && integer >= 0 ? unsignedSize(integer) : 8
}

function unsignedSize(integer: number): number {
  return integer < 0x100 ? 1 : integer < 0x10000 ? 2 : integer < 0x100000000 ? 4 : 8
}

function decodeWire(type: number, wire: Buffer): Value {
  switch (type) {
    case ParticleType.NIL:
      return null
    case ParticleType.INTEGER:
      return toInteger(wire.readBigInt64BE(0))
    case ParticleType.DOUBLE:
      return new Float(wire.readDoubleBE(0))
    case ParticleType.STRING:
      return decodeString(wire, 0, wire.length)
    case ParticleType.BOOL:
      return wire[0] !== 0
    case ParticleType.LIST:
    case ParticleType.MAP:
      return decodeMsgpack(wire)
  }
  return new Bytes(type, wire)
}

function encodeWire(type: number, value: Value): Buffer {
  if (typeof value === 'number' || typeof value === 'bigint') {
    const bytes = Buffer.allocUnsafe(8)
    bytes.writeBigInt64BE(BigInt(value))
    return bytes
  }
  if (typeof value === 'string') return Buffer.from(value, 'utf8')
  if (typeof value === 'boolean') return Buffer.from([value ? 1 : 0])
  if (value instanceof Float) {
    const bytes = Buffer.allocUnsafe(8)
    bytes.writeDoubleBE(value.value)
    return bytes
  }
  if (value instanceof Bytes)
    return type === ParticleType.GEOJSON ? Buffer.concat([GEO_HEADER, value.bytes]) : value.bytes
  if (value instanceof ListValue || value instanceof MapValue) return encodeMsgpack(value)
  return Buffer.alloc(0)
}
