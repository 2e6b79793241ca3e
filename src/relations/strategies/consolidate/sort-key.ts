import { SkeinError } from '../../../errors/index.js'
import { describeKey, type KeyKind, type KeyValue } from '../../../keys/index.js'
import type { BinType, EmbeddableModel } from '../../../model/index.js'

/** Writes a value so that the order of the texts is the order of the values. */
interface OrderedText {
  write(value: unknown): string | undefined
  /** Length of the value that the text begins with. */
  lengthIn(text: string): number
}

// Sorts before every digit and before the minus sign.
const MISSING = '!:'
// No value sorts before the empty text, which begins with its end.
const NO_TEXT = '\u0001'
const END = '\u0002'
const ESCAPE = '\u0003'

/** Zeros in front make text order number order; of negative numbers, which sort first, the digits count down. */
function integerText(digits: number): OrderedText {
  const top = 10n ** BigInt(digits) - 1n
  return {
    write(value) {
      if (value === undefined || value === null) return MISSING
      const integer = integerOf(value)
      if (integer === undefined) return undefined
      const text = String(integer < 0n ? top + integer : integer).padStart(digits, '0')
      return `${integer < 0n ? '-' : ''}${text}:`
    },
    lengthIn: (text) => (text.startsWith(MISSING) ? MISSING.length : digits + (text.startsWith('-') ? 2 : 1)),
  }
}

function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  const number = value instanceof Date ? value.getTime() : value
  return Number.isSafeInteger(number) ? BigInt(number as number) : undefined
}

// The end is lower than anything in the text, so that a text sorts before those it begins.
const TEXT: OrderedText = {
  write(value) {
    if (value === undefined || value === null) return NO_TEXT
    return typeof value === 'string' ? value.replace(/[\u0001-\u0003]/g, (char) => ESCAPE + char) + END : undefined
  },
  lengthIn(text) {
    if (text.startsWith(NO_TEXT)) return NO_TEXT.length
    for (let i = 0; i < text.length; i++) {
      if (text[i] === ESCAPE) i++
      else if (text[i] === END) return i + 1
    }
    return text.length
  },
}

/** The time that a place begins with; undefined where it begins with no date. */
export function timeAt(place: string): number | undefined {
  const [, sign, digits] = /^(-?)(\d{16}):/.exec(place) ?? []
  if (digits === undefined) return undefined
  return sign === '' ? Number(digits) : Number(BigInt(digits) - (10n ** 16n - 1n))
}

const NUMBER = integerText(16)
const INT64 = integerText(19)

/** Map keys in whose order the parts of a collection are shown: some of their properties, then their id. */
export class SortKey {
  readonly #part: EmbeddableModel
  readonly #properties: readonly string[]
  readonly #texts: readonly OrderedText[]
  readonly #idKind: KeyKind

  constructor(part: EmbeddableModel, properties: readonly string[]) {
    this.#part = part
    this.#properties = properties
    this.#texts = properties.map((name) => textOf(part.properties.find((each) => each.name === name)!.type))
    this.#idKind = part.key!.kind
  }

  get properties(): readonly string[] {
    return this.#properties
  }

  /** The map key of the part with these values and this id. */
  write(values: readonly unknown[], id: KeyValue): string {
    return this.prefix(values) + this.#idText(id)
  }

  /** Prefix of all map keys whose first values are these. */
  prefix(values: readonly unknown[]): string {
    return values.map((value, i) => this.#texts[i].write(value) ?? this.#refuse(i, value)).join('')
  }

  /** The id at the end of a map key. */
  idOf(text: string): KeyValue {
    let rest = text
    for (const each of this.#texts) rest = rest.slice(each.lengthIn(rest))
    if (this.#idKind === 'string') return rest
    if (this.#idKind === 'bytes') return Buffer.from(rest, 'hex')
    const digits = rest.slice(rest.startsWith('-') ? 1 : 0, -1)
    const value = rest.startsWith('-') ? BigInt(digits) - (10n ** BigInt(digits.length) - 1n) : BigInt(digits)
    return this.#idKind === 'bigint' ? value : Number(value)
  }

  #idText(id: KeyValue): string {
    if (typeof id === 'string') return id
    if (id instanceof Uint8Array) return Buffer.from(id).toString('hex')
    return (this.#idKind === 'bigint' ? INT64 : NUMBER).write(id)!
  }

  #refuse(index: number, value: unknown): never {
    const property = this.#properties[index]
    throw new SkeinError(
      'SKEIN_2201',
      `${this.#part.name}.${property}: ${describeKey(value)} cannot be put in order.`,
      {
        className: this.#part.name,
        property,
        fix: 'Give a value of the type that is declared.',
      },
    )
  }
}

function textOf(type: BinType): OrderedText {
  if (type.kind === 'string') return TEXT
  if (type.kind === 'enum') return type.values.every((value) => typeof value === 'string') ? TEXT : NUMBER
  return type.kind === 'bigint' ? INT64 : NUMBER
}
