import { cut, shown, SkeinError } from '../errors/index.js'

/** A user key as Aerospike accepts it. */
export type KeyValue = string | number | bigint | Uint8Array

/** The declared kind of a key. */
export type KeyKind = 'string' | 'int' | 'bigint' | 'bytes'

const MIN_INT64 = -(2n ** 63n)
const MAX_INT64 = 2n ** 63n - 1n

/** True when the value fits a signed 64-bit integer. */
export const isInt64 = (value: bigint): boolean => value >= MIN_INT64 && value <= MAX_INT64

/** Bytes of the longest key unless `open` is told otherwise: the client builds a key on the stack, and crashes on one of megabytes. */
export const MAX_KEY_BYTES = 64 * 1024

/** Returns the value as a key of the declared kind, or throws SKEIN_2101 before the client could store it under another key. */
export function checkKey(
  value: unknown,
  kind: KeyKind,
  className: string,
  property?: string,
  maxBytes = MAX_KEY_BYTES,
): KeyValue {
  const problem = keyProblem(value, kind, maxBytes)
  if (problem === undefined) return value as KeyValue
  throw new SkeinError('SKEIN_2101', `${className}${property === undefined ? '' : `.${property}`}: ${problem}.`, {
    className,
    property,
    fix: isTooLong(value, maxBytes) ? TOO_LONG : `Give ${FIX[kind]}.`,
  })
}

const TOO_LONG = 'Give a shorter one, or raise limits.keyBytes of open(); hashId makes a short id of long values.'

/** Counts bytes only where there may be too many: most keys are short. */
export function isTooLong(value: unknown, maxBytes: number): boolean {
  if (value instanceof Uint8Array) return value.byteLength > maxBytes
  if (typeof value !== 'string' || value.length * 3 <= maxBytes) return false
  return value.length > maxBytes || Buffer.byteLength(value) > maxBytes
}

/** Reason why the value cannot be a key of that kind, or undefined. */
export function keyProblem(value: unknown, kind: KeyKind, maxBytes = MAX_KEY_BYTES): string | undefined {
  if (isTooLong(value, maxBytes)) return `a key must not have more than ${maxBytes} bytes`
  switch (kind) {
    case 'string':
      if (typeof value !== 'string') return `${describeKey(value)} is not a string key`
      if (value === '') return 'a key must not be empty'
      if (isSafeText(value)) return undefined
      if (value.includes('\0')) return 'a key must not contain NUL: the client would cut it there'
      return 'half of a surrogate pair in a key cannot be stored'
    case 'int':
      return Number.isSafeInteger(value) ? undefined : `${describeKey(value)} is not an integer key within ±(2^53 − 1)`
    case 'bigint':
      return typeof value === 'bigint' && isInt64(value)
        ? undefined
        : `${describeKey(value)} is not a bigint key of 64 bits`
    case 'bytes':
      if (!(value instanceof Uint8Array)) return `${describeKey(value)} is not a Buffer or Uint8Array`
      return value.byteLength === 0 ? 'a key must not be empty' : undefined
  }
}

const FIX: { readonly [K in KeyKind]: string } = {
  string: 'a non-empty string without NUL',
  int: "an integer number, or declare the key 'bigint' for larger ones",
  bigint: 'a bigint between -2^63 and 2^63 − 1',
  bytes: 'a non-empty Buffer',
}

/** Shows a key in messages, plans and logs. */
export function describeKey(key: unknown): string {
  if (typeof key === 'string') return shownText(key)
  if (key instanceof Uint8Array) return key.byteLength > 64 ? `${key.byteLength} bytes` : `0x${toHex(key)}`
  if (typeof key === 'bigint') return `${key}n`
  if (typeof key === 'function' || Array.isArray(key)) return shown(key)
  if (typeof key === 'object' && key !== null) return `an object (${cut(Object.keys(key).join(', '))})`
  return String(key)
}

const shownText = (text: string): string =>
  text.length <= 100 ? JSON.stringify(text) : `${JSON.stringify(text.slice(0, 100))}… (${text.length} characters)`

const toHex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')

const hex = (char: string): string => '%' + char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')

/** Turns one part of a composite key into text that holds none of the template's delimiters, and back. */
export class Escape {
  readonly #unsafe: RegExp
  readonly #unsafeEverywhere: RegExp

  constructor(delimiters: Iterable<string>) {
    const chars = [...new Set(['%', '\0', ...delimiters])].map((char) => '\\x' + hex(char).slice(1)).join('')
    this.#unsafe = new RegExp(`[${chars}]`)
    this.#unsafeEverywhere = new RegExp(`[${chars}]`, 'g')
  }

  encode(text: string): string {
    return this.#unsafe.test(text) ? text.replace(this.#unsafeEverywhere, hex) : text
  }

  decode(text: string): string {
    return text.includes('%')
      ? text.replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
      : text
  }
}

/** True for text that the client stores whole: it cuts strings at NUL, and UTF-8 has no half surrogate pairs. */
export const isSafeText = (text: string): boolean => !text.includes('\0') && !hasLoneSurrogate(text)

/** A string with half of a surrogate pair cannot be stored: UTF-8 has no place for it. */
export const hasLoneSurrogate = (text: string): boolean => !(text as WellFormedString).isWellFormed()

// In every supported Node, but not yet in the library that TypeScript is told to use.
type WellFormedString = string & { isWellFormed(): boolean }
