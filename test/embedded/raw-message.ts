/** Requests as bytes, for what the official client would never send. */

export function frame(type: number, body: Buffer, length = body.length, version = 2): Buffer {
  const header = Buffer.alloc(8)
  header[0] = version
  header[1] = type
  header.writeUIntBE(length, 2, 6)
  return Buffer.concat([header, body])
}

export function field(id: number, data: Buffer): Buffer {
  const header = Buffer.alloc(5)
  header.writeUInt32BE(data.length + 1)
  header[4] = id
  return Buffer.concat([header, data])
}

export function op(code: number, type: number, name: string, value: Buffer): Buffer {
  const header = Buffer.alloc(8)
  header.writeUInt32BE(4 + name.length + value.length)
  header[4] = code
  header[5] = type
  header[7] = name.length
  return Buffer.concat([header, Buffer.from(name, 'latin1'), value])
}

/** `info` are the four bytes of flags. */
export function message(
  info: readonly number[],
  fields: readonly Buffer[],
  ops: readonly Buffer[],
  generation = 0,
  ttl = 0,
): Buffer {
  const header = Buffer.alloc(22)
  header[0] = 22
  header.writeUInt32BE(generation, 6)
  header.writeInt32BE(ttl, 10)
  info.forEach((bits, i) => (header[1 + i] = bits))
  header.writeUInt16BE(fields.length, 18)
  header.writeUInt16BE(ops.length, 20)
  return Buffer.concat([header, ...fields, ...ops])
}
