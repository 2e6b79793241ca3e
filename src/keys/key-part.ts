import { isInt64, hasLoneSurrogate, type KeyKind } from './key-value.js'
import type { Placeholder } from './template.js'

/** The declared type of a property that takes part in a key template. */
export type KeyPartType = KeyKind | 'date' | 'boolean'

/** A value of such a property. */
export type KeyPartValue = string | number | bigint | boolean | Date | Uint8Array

/** A value's text inside a key and back; `undefined` says the value or the text does not fit. */
export interface KeyPartText {
  /** Description of a valid value, for messages. */
  readonly wants: string
  format(value: unknown): string | undefined
  parse(text: string): KeyPartValue | undefined
}

/** The type of a part, or its own text form. */
export type KeyPart = KeyPartType | KeyPartText

/** The text form of one placeholder, or a sentence that says why a property of that type cannot be printed so. */
export function keyPartText(placeholder: Placeholder, part: KeyPart): KeyPartText | string {
  const type = typeof part === 'object' ? 'string' : part
  if (placeholder.date) return dateText(placeholder.date, type)
  if (placeholder.digits !== undefined) return paddedText(placeholder.digits, type)
  return typeof part === 'object' ? part : PLAIN[type]
}

const INT = /^(0|-?[1-9][0-9]*)$/

const PLAIN: { readonly [T in KeyPartType]: KeyPartText } = {
  string: {
    wants: 'a string',
    format: (value) => (typeof value === 'string' && !hasLoneSurrogate(value) ? value : undefined),
    parse: (text) => text,
  },
  int: {
    wants: 'an integer number',
    format: (value) => (Number.isSafeInteger(value) ? String(value) : undefined),
    parse: (text) => (INT.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined),
  },
  bigint: {
    wants: 'a bigint of 64 bits',
    format: (value) => (typeof value === 'bigint' && isInt64(value) ? String(value) : undefined),
    parse: (text) => (text.length <= 20 && INT.test(text) && isInt64(BigInt(text)) ? BigInt(text) : undefined),
  },
  bytes: {
    wants: 'a Buffer',
    format: (value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : undefined),
    parse: (text) => (/^([0-9a-f]{2})*$/.test(text) ? Buffer.from(text, 'hex') : undefined),
  },
  boolean: {
    wants: 'a boolean',
    format: (value) => (typeof value === 'boolean' ? String(value) : undefined),
    parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  },
  date: {
    wants: 'a valid Date',
    format: (value) => (value instanceof Date && !Number.isNaN(value.getTime()) ? String(value.getTime()) : undefined),
    parse: (text) => {
      const date = new Date(INT.test(text) ? Number(text) : NaN)
      return Number.isNaN(date.getTime()) ? undefined : date
    },
  },
}

function dateText(date: NonNullable<Placeholder['date']>, type: KeyPartType): KeyPartText | string {
  const { pattern } = date
  switch (type) {
    case 'date':
      return {
        wants: `a Date of the years 0 to 9999, printed as ${pattern}`,
        format: (value) => (value instanceof Date ? date.format(value) : undefined),
        parse: (text) => date.parse(text),
      }
    case 'string':
      return {
        wants: `a string of the form ${pattern}`,
        format: (value) => (typeof value === 'string' && date.parse(value) ? value : undefined),
        parse: (text) => (date.parse(text) ? text : undefined),
      }
    case 'int':
      return {
        wants: `a time in milliseconds, printed as ${pattern}`,
        format: (value) => (Number.isSafeInteger(value) ? date.format(new Date(value as number)) : undefined),
        parse: (text) => date.parse(text)?.getTime(),
      }
    default:
      return `a ${type} property cannot be printed as ${pattern}; declare it date, int (milliseconds) or string`
  }
}

function paddedText(digits: number, type: KeyPartType): KeyPartText | string {
  if (type !== 'int' && type !== 'bigint') return `only int and bigint properties can be padded with zeros, not ${type}`
  const plain = PLAIN[type]
  return {
    wants: `${plain.wants} of at most ${digits} digits, not negative`,
    format(value) {
      const text = plain.format(value)
      return text === undefined || text.length > digits || text.startsWith('-') ? undefined : text.padStart(digits, '0')
    },
    parse: (text) =>
      /^[0-9]+$/.test(text) && text.length === digits ? plain.parse(text.replace(/^0+(?=.)/, '')) : undefined,
  }
}
