import { makeCdtCall, modifyCdt, readCdt } from '#src/embedded/cdt/index.js'
import { CommandError } from '#src/embedded/protocol/result-code.js'
import { encodedSize } from '#src/embedded/value/encoded-size.js'
import { encodeMsgpack } from '#src/embedded/value/msgpack-writer.js'
import { Bytes, Extreme, Float, ListValue, MapValue, type Value } from '#src/embedded/value/value.js'

export const list = (...items: Value[]): ListValue => new ListValue(items)
export const ordered = (...items: Value[]): ListValue => new ListValue(items, 1)
export const map = (flags: number, ...entries: [Value, Value][]): MapValue =>
  new MapValue(
    entries.map(([key]) => key),
    entries.map(([, value]) => value),
    flags,
  )
export const f = (value: number): Float => new Float(value)
export const blob = (...bytes: number[]): Bytes => new Bytes(4, Buffer.from(bytes))
export const ANY = Extreme.WILDCARD
export const INFINITY = Extreme.INFINITY

/** `[opcode, …arguments]`. */
export type Call = readonly [number, ...Value[]]

/** Values as the tables write them: `[#1 1,2]` is an ordered list, `{#1 "a":1}` a map with flags 1, `1.5f` a double. */
export function show(value: Value | undefined): string {
  if (value === undefined) return '(none)'
  if (value === null) return 'nil'
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'bigint') return `${value}n`
  if (value instanceof Float) return `${value.value}f`
  if (value instanceof Bytes) return `<${value.tag}:${value.bytes.toString('hex')}>`
  if (value instanceof ListValue) return `[${flags(value)}${value.items.map(show).join(',')}]`
  if (value instanceof MapValue)
    return `{${flags(value)}${value.keys.map((key, i) => `${show(key)}:${show(value.values[i])}`).join(',')}}`
  return value instanceof Extreme ? value.name : String(value)
}

function flags(container: ListValue | MapValue): string {
  return container.flags === 0 ? '' : `#${container.flags} `
}

/** The answer to a reading call, or `ERR code`. */
export function read(subject: Value, call: Call, context?: Value): string {
  const [opcode, ...args] = call
  return answer(() => show(readCdt(makeCdtCall(opcode, args, context), subject)))
}

/** The answer to a changing call and what the bin holds afterwards, with checks that hold for every change. */
export function modify(subject: Value | undefined, call: Call, context?: Value): string {
  const [opcode, ...args] = call
  const before = show(subject)
  if (subject !== undefined) encodedSize(subject)
  let after = subject
  const result = answer(() => {
    const change = modifyCdt(makeCdtCall(opcode, args, context), subject)
    after = change.subject
    return show(change.result)
  })
  if (show(subject) !== before) throw new Error(`${before} itself was changed`)
  if (after !== undefined && encodedSize(after) !== encodeMsgpack(after).length)
    throw new Error(`the size of ${show(after)} is wrong`)
  return `${result} | ${show(after)}`
}

function answer(work: () => string): string {
  try {
    return work()
  } catch (error) {
    if (error instanceof CommandError) return `ERR ${error.code}`
    throw error
  }
}
