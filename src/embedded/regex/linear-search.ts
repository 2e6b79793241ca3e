import { requestBudget } from '../protocol/request-budget.js'
import { holds, isWord, NO_BYTE } from './assertion.js'
import { NEWLINE } from '../../regex/pattern.js'
import { Instruction, type Program } from './program.js'

const STEPS_PER_INSTRUCTION = 2
const STEPS_PER_BYTE = 1 / 4
/** States that are remembered, and instructions in them; then the memory starts afresh. */
const MAX_STATES = 64
const MAX_REMEMBERED = 1 << 15
/** Ways on: one for each byte, and one for the end of the text. */
const WAYS = 257

/** The instructions that wait for the next byte, after a byte of some kind. */
interface State {
  readonly waiting: readonly number[]
  /** A byte of the kind that was read last; assertions see no more of it. */
  readonly before: number
  readonly ways: (State | 'match' | undefined)[]
}

/**
 * Searches a text in time proportional to its length: all ways through the pattern are followed at once, and states that
 * were met before are not computed again. Back references need another kind of search.
 */
export class LinearSearch {
  readonly #program: Program
  readonly #states = new Map<string, State>()
  readonly #visited: Uint32Array
  #visit = 0
  #remembered = 0

  constructor(program: Program) {
    this.#program = program
    this.#visited = new Uint32Array(program.codes.length)
  }

  test(text: Uint8Array): boolean {
    requestBudget.work(text.length * STEPS_PER_BYTE)
    let state = this.#state([], NO_BYTE)
    for (let at = 0; at <= text.length; at++) {
      const way = at < text.length ? text[at] : WAYS - 1
      const next = (state.ways[way] ??= this.#follow(state, at < text.length ? text[at] : NO_BYTE))
      if (next === 'match') return true
      state = next
    }
    return false
  }

  /** The state after a byte; a match may begin anywhere, so the first instruction always waits too. */
  #follow(state: State, byte: number): State | 'match' {
    const { codes, first, second, sets } = this.#program
    const visit = ++this.#visit
    const stack = [...state.waiting, 0]
    const waiting: number[] = []
    let visits = 0
    while (stack.length > 0) {
      const at = stack.pop()!
      visits++
      if (this.#visited[at] === visit) continue
      this.#visited[at] = visit
      switch (codes[at]) {
        case Instruction.MATCH:
          return 'match'
        case Instruction.BYTE:
          if (byte !== NO_BYTE && sets[first[at]][byte]) waiting.push(at + 1)
          break
        case Instruction.SPLIT:
          stack.push(first[at], second[at])
          break
        case Instruction.JUMP:
          stack.push(first[at])
          break
        case Instruction.ASSERT:
          if (holds(first[at], state.before, byte)) stack.push(at + 1)
          break
        default:
          stack.push(at + 1)
      }
    }
    requestBudget.work(visits * STEPS_PER_INSTRUCTION)
    return this.#state(waiting, kindOf(byte))
  }

  #state(waiting: number[], before: number): State {
    const key = `${before}:${waiting.sort((a, b) => a - b).join()}`
    const known = this.#states.get(key)
    if (known !== undefined) return known
    this.#remembered += waiting.length
    if (this.#states.size >= MAX_STATES || this.#remembered > MAX_REMEMBERED) {
      this.#states.clear()
      this.#remembered = waiting.length
    }
    const state: State = { waiting, before, ways: new Array<undefined>(WAYS) }
    this.#states.set(key, state)
    return state
  }
}

const A_WORD_BYTE = 0x61
const ANOTHER_BYTE = 0x20

function kindOf(byte: number): number {
  if (byte === NO_BYTE || byte === NEWLINE) return byte
  return isWord(byte) ? A_WORD_BYTE : ANOTHER_BYTE
}
