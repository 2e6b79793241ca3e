import { Assertion, NEWLINE, WORD } from '../../regex/pattern.js'

/** Stands for the byte before the first and after the last one. */
export const NO_BYTE = -1

/** True where an assertion holds between two bytes. */
export function holds(test: number, before: number, after: number): boolean {
  switch (test) {
    case Assertion.TEXT_START:
      return before === NO_BYTE
    case Assertion.TEXT_END:
      return after === NO_BYTE
    case Assertion.LINE_START:
      return before === NO_BYTE || before === NEWLINE
    case Assertion.LINE_END:
      return after === NO_BYTE || after === NEWLINE
    case Assertion.WORD_EDGE:
      return isWord(before) !== isWord(after)
    case Assertion.NO_WORD_EDGE:
      return isWord(before) === isWord(after)
    case Assertion.WORD_START:
      return !isWord(before) && isWord(after)
    case Assertion.WORD_END:
      return isWord(before) && !isWord(after)
  }
  return false
}

export function isWord(byte: number): boolean {
  return byte !== NO_BYTE && WORD[byte] === 1
}
