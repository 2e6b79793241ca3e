import { malformedRegex } from '../../regex/malformed-regex.js'
import type { ByteSet, Pattern } from '../../regex/pattern.js'

/** The instructions into which a pattern is compiled. `SPLIT` prefers its first target. */
export const Instruction = {
  BYTE: 0,
  SPLIT: 1,
  JUMP: 2,
  ASSERT: 3,
  /** Notes the position: where a group starts or ends, or a round of a repetition begins. */
  NOTE: 4,
  /** Ends a round that matched nothing, so that a repetition cannot go on for ever. */
  PROGRESS: 5,
  BACK_REFERENCE: 6,
  MATCH: 7,
} as const

const MAX_INSTRUCTIONS = 0xffff

/** A compiled pattern: instruction `i` is `codes[i]` with the operands `first[i]` and `second[i]`. */
export interface Program {
  readonly codes: Uint8Array
  readonly first: Uint16Array
  readonly second: Uint16Array
  readonly sets: readonly ByteSet[]
  readonly notes: number
  readonly hasBackReferences: boolean
}

export function compilePattern(pattern: Pattern): Program {
  return new Compiler().compile(pattern)
}

class Compiler {
  readonly #codes: number[] = []
  readonly #first: number[] = []
  readonly #second: number[] = []
  readonly #sets = new Map<ByteSet, number>()
  readonly #groupNotes = new Map<number, number>()
  #notes = 0
  #steps = 0
  #hasBackReferences = false

  compile(pattern: Pattern): Program {
    this.#add(pattern)
    this.#emit(Instruction.MATCH)
    return {
      codes: Uint8Array.from(this.#codes),
      first: Uint16Array.from(this.#first),
      second: Uint16Array.from(this.#second),
      sets: [...this.#sets.keys()],
      notes: this.#notes,
      hasBackReferences: this.#hasBackReferences,
    }
  }

  #emit(code: number, first = 0, second = 0): number {
    if (this.#codes.length >= MAX_INSTRUCTIONS) throw tooLarge()
    this.#first.push(first)
    this.#second.push(second)
    return this.#codes.push(code) - 1
  }

  get #next(): number {
    return this.#codes.length
  }

  #add(pattern: Pattern): void {
    // Repeating nothing emits nothing, and still takes its time.
    if (++this.#steps > MAX_INSTRUCTIONS * 4) throw tooLarge()
    switch (pattern.kind) {
      case 'byte':
        this.#emit(Instruction.BYTE, this.#setNumber(pattern.set))
        return
      case 'sequence':
        for (const part of pattern.parts) this.#add(part)
        return
      case 'either':
        return this.#either(pattern.branches)
      case 'repeat':
        return this.#repeat(pattern.part, pattern.least, pattern.most)
      case 'group':
        return this.#group(pattern.number, pattern.part)
      case 'assertion':
        this.#emit(Instruction.ASSERT, pattern.test)
        return
      case 'back reference':
        this.#hasBackReferences = true
        this.#emit(Instruction.BACK_REFERENCE, this.#groupNotes.get(pattern.number))
    }
  }

  #setNumber(set: ByteSet): number {
    let number = this.#sets.get(set)
    if (number === undefined) this.#sets.set(set, (number = this.#sets.size))
    return number
  }

  #either(branches: readonly Pattern[]): void {
    const ends: number[] = []
    branches.forEach((branch, i) => {
      if (i === branches.length - 1) return this.#add(branch)
      const split = this.#emit(Instruction.SPLIT, this.#next + 1)
      this.#add(branch)
      ends.push(this.#emit(Instruction.JUMP))
      this.#second[split] = this.#next
    })
    for (const end of ends) this.#first[end] = this.#next
  }

  #repeat(part: Pattern, least: number, most: number): void {
    for (let i = 0; i < least; i++) this.#add(part)
    if (most === Infinity) return this.#loop(part)
    const splits: number[] = []
    for (let i = least; i < most; i++) {
      splits.push(this.#emit(Instruction.SPLIT, this.#next + 1))
      this.#add(part)
    }
    for (const split of splits) this.#second[split] = this.#next
  }

  #loop(part: Pattern): void {
    const note = this.#notes++
    const split = this.#emit(Instruction.SPLIT, this.#next + 1)
    this.#emit(Instruction.NOTE, note)
    this.#add(part)
    this.#emit(Instruction.PROGRESS, note)
    this.#emit(Instruction.JUMP, split)
    this.#second[split] = this.#next
  }

  /** A group that is repeated notes its ends in the same place every time, so that the last round counts. */
  #group(number: number, part: Pattern): void {
    let note = this.#groupNotes.get(number)
    if (note === undefined) {
      note = this.#notes
      this.#notes += 2
      this.#groupNotes.set(number, note)
    }
    this.#emit(Instruction.NOTE, note)
    this.#add(part)
    this.#emit(Instruction.NOTE, note + 1)
  }
}

function tooLarge(): Error {
  return malformedRegex('the regular expression is too large')
}
