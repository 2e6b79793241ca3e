import { DateFormat } from './date-format.js'

/** A placeholder of a key template: the property it names and, after a bar, how its value is printed. */
export interface Placeholder {
  readonly property: string
  /** `{day|YYYY-MM-DD}`: the slice of time that holds the value. */
  readonly date?: DateFormat
  /** `{score|0000000000}`: padded with zeros to this many digits, so that text order is number order. */
  readonly digits?: number
}

/** A key template such as `tenant:{tenant}:order:{orderId}`, taken apart and checked. */
export interface KeyTemplate {
  readonly text: string
  /** Literal texts and placeholders in turn: `literals[0] placeholders[0] literals[1] …`, one literal more than placeholders. */
  readonly literals: readonly string[]
  readonly placeholders: readonly Placeholder[]
}

const PLACEHOLDER = /\{([^{}|]*)(?:\|([^{}]*))?\}/g
// An escaped value holds letters, digits and %; a delimiter must not look like one of them.
const DELIMITER = /^[!-/:-@[-`{-~ ]$/

/** Takes a template apart, or says in a sentence what is wrong with it. */
export const parseTemplate = (text: string): KeyTemplate | string => {
  const literals: string[] = []
  const placeholders: Placeholder[] = []
  let end = 0
  for (const match of text.matchAll(PLACEHOLDER)) {
    literals.push(text.slice(end, match.index))
    end = match.index + match[0].length
    const placeholder = readPlaceholder(match[1], match[2])
    if (typeof placeholder === 'string') return `${match[0]}: ${placeholder}`
    if (placeholders.some((other) => other.property === placeholder.property)) return `${match[0]} appears twice`
    placeholders.push(placeholder)
  }
  literals.push(text.slice(end))
  const problem = checkLiterals(literals, placeholders)
  return (
    problem ?? Object.freeze({ text, literals: Object.freeze(literals), placeholders: Object.freeze(placeholders) })
  )
}

const readPlaceholder = (property: string, format: string | undefined): Placeholder | string => {
  if (property === '') return 'a placeholder needs the name of a property'
  if (format === undefined) return Object.freeze({ property })
  if (/^0+$/.test(format)) return Object.freeze({ property, digits: format.length })
  const date = DateFormat.parse(format)
  return typeof date === 'string' ? date : Object.freeze({ property, date })
}

const checkLiterals = (literals: readonly string[], placeholders: readonly Placeholder[]): string | undefined => {
  if (placeholders.length === 0) return 'it names no property; write {property}'
  for (const [i, literal] of literals.entries()) {
    if (/[{}\0]/.test(literal)) return `'${literal}' has a stray brace or NUL`
    const isBetween = i > 0 && i < placeholders.length
    if (literal === '') {
      if (isBetween)
        return `{${placeholders[i - 1].property}}{${placeholders[i].property}} need a delimiter between them`
      continue
    }
    const follows = i > 0 && !isDelimiter(literal[0])
    const precedes = i < placeholders.length && i > 0 && !isDelimiter(literal.at(-1)!)
    if (follows || precedes) {
      return `'${literal}' must begin and end with a punctuation mark other than %, so that values cannot run into it`
    }
  }
  return undefined
}

const isDelimiter = (char: string): boolean => DELIMITER.test(char) && char !== '%'
