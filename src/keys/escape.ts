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

/** A string with half of a surrogate pair cannot be stored: UTF-8 has no place for it. */
export const hasLoneSurrogate = (text: string): boolean => !(text as WellFormedString).isWellFormed()

// In every supported Node, but not yet in the library that TypeScript is told to use.
type WellFormedString = string & { isWellFormed(): boolean }
