import { SkeinError } from '../errors/index.js'
import { keyPartText, type KeyPartText, type KeyPart, type KeyPartValue } from './key-part.js'
import { checkKey, describeKey, isTooLong, MAX_KEY_BYTES, Escape } from './key-value.js'
import type { KeyTemplate } from './template.js'

/** The properties a template prints: their types, and the one, if any, that holds the key of another record. */
export interface KeyFormatOptions {
  /** For messages: the class the keys belong to. */
  readonly className: string
  readonly types: Readonly<Record<string, KeyPart>>
  /**
   * The property whose value is itself a key (the parent's). It is put in as it is, without escaping, so that a child's key begins
   * like its parent's; everything around it is read from the two ends towards it.
   */
  readonly parent?: string
  /** Bytes of the longest key. */
  readonly maxBytes?: number
}

/** The values of a template's placeholders by property name. */
export type KeyParts = Readonly<Record<string, KeyPartValue>>

/** A template with the types of its properties: prints keys and reads them back exactly. */
export class KeyFormat {
  readonly template: KeyTemplate
  readonly className: string
  readonly #texts: readonly KeyPartText[]
  readonly #escape: Escape
  /** Index of the parent's placeholder; past the end where there is none. */
  readonly #parentAt: number
  readonly #maxBytes: number

  private constructor(template: KeyTemplate, options: KeyFormatOptions, texts: readonly KeyPartText[]) {
    this.template = template
    this.className = options.className
    this.#maxBytes = options.maxBytes ?? MAX_KEY_BYTES
    this.#texts = texts
    this.#escape = new Escape(delimitersOf(template))
    const parentAt = template.placeholders.findIndex((placeholder) => placeholder.property === options.parent)
    this.#parentAt = parentAt < 0 ? texts.length : parentAt
  }

  /** The format, or a sentence that says why the template does not fit the properties. */
  static create(template: KeyTemplate, options: KeyFormatOptions): KeyFormat | string {
    const texts: KeyPartText[] = []
    for (const placeholder of template.placeholders) {
      const { property } = placeholder
      if (!Object.hasOwn(options.types, property)) return `{${property}} is not a property that can be part of a key`
      const text = keyPartText(placeholder, options.types[property])
      if (typeof text === 'string') return `{${property}}: ${text}`
      texts.push(text)
    }
    return new KeyFormat(template, options, texts)
  }

  /** Prints the key. Throws SKEIN_2102 when a part is missing or cannot be printed. */
  format(parts: Readonly<Record<string, unknown>>): string {
    const { literals, placeholders } = this.template
    let key = literals[0]
    for (let i = 0; i < placeholders.length; i++) {
      const { property } = placeholders[i]
      const value = parts[property]
      // Looked at before it is escaped and put together.
      if (isTooLong(value, this.#maxBytes)) checkKey(value, 'string', this.className, property, this.#maxBytes)
      const text = this.#texts[i].format(value)
      if (text === undefined) throw this.#wrongPart(property, value, this.#texts[i].wants)
      key += (i === this.#parentAt ? text : this.#escape.encode(text)) + literals[i + 1]
    }
    // Escaped parts cannot hold NUL, but the parent's key is taken as it is; and every part may be empty.
    if (key === '' || key.includes('\0') || isTooLong(key, this.#maxBytes))
      checkKey(key, 'string', this.className, undefined, this.#maxBytes)
    return key
  }

  /** Reads the parts back. Throws SKEIN_2103 unless `format` of the result would print exactly this key. */
  parse(key: string): KeyParts {
    if (typeof key !== 'string' || isTooLong(key, this.#maxBytes))
      checkKey(key, 'string', this.className, undefined, this.#maxBytes)
    const parts = this.tryParse(key)
    if (parts) return parts
    const properties = this.template.placeholders.map(({ property }) => property).join(', ')
    throw new SkeinError(
      'SKEIN_2103',
      `${this.className}: ${describeKey(key)} is not a key of the form '${this.template.text}'.`,
      {
        className: this.className,
        key,
        fix: `Give a key that this template printed: keysOf(${this.className}).of({ ${properties} }) makes one of its parts.`,
      },
    )
  }

  /** Like `parse`, but undefined for what is not a key of this form. */
  tryParse(key: string): KeyParts | undefined {
    if (typeof key !== 'string' || isTooLong(key, this.#maxBytes)) return undefined
    const texts = this.#split(key)
    if (!texts) return undefined
    const parts: Record<string, KeyPartValue> = Object.create(null) as Record<string, KeyPartValue>
    for (const [i, { property }] of this.template.placeholders.entries()) {
      const value = this.#texts[i].parse(i === this.#parentAt ? texts[i] : this.#escape.decode(texts[i]))
      if (value === undefined) return undefined
      parts[property] = value
    }
    // Only the printed form is a key: '%3a', '007' or a superfluous escape would be a second name for one record.
    return this.#print(parts) === key ? parts : undefined
  }

  /** The value that a property must have for the placeholder to print this text. */
  partOf(property: string, text: string): KeyPartValue | undefined {
    const at = this.template.placeholders.findIndex((placeholder) => placeholder.property === property)
    return this.#texts[at]?.parse(text)
  }

  #print(parts: KeyParts): string | undefined {
    try {
      return this.format(parts)
    } catch {
      return undefined
    }
  }

  /** The text of each placeholder: up to the parent's from the left, the ones after it from the right. */
  #split(key: string): readonly string[] | undefined {
    const { literals, placeholders } = this.template
    if (!key.startsWith(literals[0])) return undefined
    const texts: string[] = new Array<string>(placeholders.length).fill('')
    const last = placeholders.length - 1
    let start = literals[0].length
    let end = key.length
    for (let i = 0; i < this.#parentAt; i++) {
      const literal = literals[i + 1]
      const at = i === last ? key.length - literal.length : key.indexOf(literal[0], start)
      if (at < start || !key.startsWith(literal, at)) return undefined
      texts[i] = key.slice(start, at)
      start = at + literal.length
    }
    for (let i = last; i >= this.#parentAt; i--) {
      const literal = literals[i + 1]
      end -= literal.length
      if (end < start || !key.startsWith(literal, end)) return undefined
      if (i === this.#parentAt) {
        texts[i] = key.slice(start, end)
        break
      }
      const before = key.lastIndexOf(literals[i].at(-1)!, end - 1)
      if (before < start) return undefined
      texts[i] = key.slice(before + 1, end)
      end = before + 1
    }
    return texts
  }

  #wrongPart(property: string, value: unknown, wants: string): SkeinError {
    const shown = value === undefined || value === null ? 'is missing' : `is ${describePart(value)}`
    return new SkeinError(
      'SKEIN_2102',
      `${this.className}.${property} ${shown}, and the key '${this.template.text}' needs it.`,
      { className: this.className, property, fix: `Give ${wants}.` },
    )
  }
}

const describePart = (value: unknown): string =>
  value instanceof Date ? `the date ${value.getTime()}` : describeKey(value)

/** The characters a value must not contain: those its neighbouring literals begin and end with. */
function* delimitersOf(template: KeyTemplate): Iterable<string> {
  const last = template.literals.length - 1
  for (const [i, literal] of template.literals.entries()) {
    if (i === 0 || literal === '') continue
    yield literal[0]
    if (i < last) yield literal.at(-1)!
  }
}
