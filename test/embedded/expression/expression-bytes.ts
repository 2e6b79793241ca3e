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

/** The wire form of a written expression. Expressions within expressions wait on a list: thousands of calls within calls would overflow the stack. */
export function expressionBytes(expression: Written): Buffer {
  const writer = new ByteWriter()
  const waiting = [expression]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (Array.isArray(next)) {
      writer.u8(0xdc)
      writer.u16(next.length)
      for (let i = next.length - 1; i >= 0; i--) waiting.push(next[i])
    } else write(writer, next)
  }
  return writer.take()
}

function write(writer: ByteWriter, single: Value | Raw): void {
  if (!(single instanceof Raw)) return writeMsgpack(writer, single)
  const length = Buffer.byteLength(single.text)
  writer.u8(0xd9)
  writer.u8(length)
  writer.utf8(single.text, length)
}
