import { OverBudgetError, requestBudget } from '../protocol/request-budget.js'
import { ResultCode } from '../protocol/result-code.js'
import { holds, NO_BYTE } from './assertion.js'
import { Instruction, type Program } from './program.js'

const STEPS_PER_INSTRUCTION = 4
const STEPS_PER_ATTEMPT = 16
const MAX_ALTERNATIVES = 1 << 18
const UNKNOWN = -1

/** A way that was not taken: go back to `position`, or set a note back to what it was. */
interface Alternative {
  readonly at: number
  readonly position: number
  readonly note: number
}

/** Searches for a pattern with back references. That can take exponential time, so the budget of the request ends it. */
export class BacktrackSearch {
  constructor(readonly program: Program) {}

  test(text: Uint8Array): boolean {
    for (let start = 0; start <= text.length; start++) if (new Attempt(this.program, text).matches(start)) return true
    return false
  }
}

class Attempt {
  readonly #notes: Int32Array
  readonly #alternatives: Alternative[] = []

  constructor(
    readonly program: Program,
    readonly text: Uint8Array,
  ) {
    requestBudget.work(STEPS_PER_ATTEMPT)
    this.#notes = new Int32Array(program.notes).fill(UNKNOWN)
  }

  matches(start: number): boolean {
    let at = 0
    let position = start
    for (;;) {
      requestBudget.work(STEPS_PER_INSTRUCTION)
      if (this.program.codes[at] === Instruction.MATCH) return true
      const after = this.#step(at, position)
      if (after === undefined) {
        const other = this.#back()
        if (other === undefined) return false
        ;({ at, position } = other)
      } else ({ at, position } = after)
    }
  }

  #step(at: number, position: number): { at: number; position: number } | undefined {
    const { codes, first, second, sets } = this.program
    const { text } = this
    const operand = first[at]
    switch (codes[at]) {
      case Instruction.BYTE:
        return position < text.length && sets[operand][text[position]]
          ? { at: at + 1, position: position + 1 }
          : undefined
      case Instruction.SPLIT:
        this.#remember({ at: second[at], position, note: UNKNOWN })
        return { at: operand, position }
      case Instruction.JUMP:
        return { at: operand, position }
      case Instruction.ASSERT:
        return holds(operand, text[position - 1] ?? NO_BYTE, text[position] ?? NO_BYTE)
          ? { at: at + 1, position }
          : undefined
      case Instruction.NOTE:
        this.#remember({ at: operand, position: this.#notes[operand], note: operand })
        this.#notes[operand] = position
        return { at: at + 1, position }
      case Instruction.PROGRESS:
        return this.#notes[operand] === position ? undefined : { at: at + 1, position }
    }
    return this.#backReference(at, position, this.#notes[operand], this.#notes[operand + 1])
  }

  /** A group that took no part cannot be referred to. */
  #backReference(at: number, position: number, from: number, to: number): { at: number; position: number } | undefined {
    if (from === UNKNOWN || to === UNKNOWN) return undefined
    const length = to - from
    requestBudget.work(length)
    if (position + length > this.text.length) return undefined
    for (let i = 0; i < length; i++) if (this.text[from + i] !== this.text[position + i]) return undefined
    return { at: at + 1, position: position + length }
  }

  #remember(alternative: Alternative): void {
    if (this.#alternatives.length >= MAX_ALTERNATIVES) throw new OverBudgetError(ResultCode.PARAMETER, 'memory')
    this.#alternatives.push(alternative)
  }

  /** The newest way that was not taken, with the notes as they were there. */
  #back(): Alternative | undefined {
    for (;;) {
      const alternative = this.#alternatives.pop()
      if (alternative === undefined || alternative.note === UNKNOWN) return alternative
      this.#notes[alternative.note] = alternative.position
    }
  }
}
