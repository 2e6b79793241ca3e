import { ByteWriter } from '#src/embedded/protocol/byte-writer.js'
import { writeMsgpack } from '#src/embedded/value/msgpack-writer.js'
import { Float, type Value } from '#src/embedded/value/value.js'

/** A string without type tag: the name of a bin or variable, or a pattern. */
export class Raw {
  constructor(readonly text: string) {}
}
export const raw = (text: string): Raw => new Raw(text)
export const f = (value: number): Float => new Float(value)

/** An expression as it is written in the tables: lists are operators, everything else is a value. */
export type Written = Value | Raw | Written[]

/** The wire form of a written expression. */
export function expressionBytes(expression: Written): Buffer {
  const writer = new ByteWriter()
  write(writer, expression)
  return writer.take()
}

function write(writer: ByteWriter, expression: Written): void {
  if (Array.isArray(expression)) {
    writer.u8(0xdc)
    writer.u16(expression.length)
    for (const each of expression) write(writer, each)
  } else if (expression instanceof Raw) {
    const length = Buffer.byteLength(expression.text)
    writer.u8(0xd9)
    writer.u8(length)
    writer.utf8(expression.text, length)
  } else {
    writeMsgpack(writer, expression)
  }
}
