import { ByteWriter } from '../protocol/byte-writer.js'
import { Bytes, Extreme, Float, ListValue, MapValue, ParticleType, type Value } from './value.js'

const EXT_SPECIAL = 0xff

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
