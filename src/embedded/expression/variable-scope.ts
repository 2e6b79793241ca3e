import type { ExpressionType } from './expression-type.js'
import { invalid, type Scope } from './node.js'

interface Variable {
  readonly name: string
  readonly slot: number
  type: ExpressionType | undefined
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Names are unique across all enclosing `let`s; slots are reused once a `let` ends. */
export class VariableScope implements Scope {
  readonly #declared: Variable[] = []
  /** Variables before this one belong to the surroundings of a path, and are out of sight. */
  #first = 0
  /** Number of slots that the whole expression needs. */
  slots = 0

  within<T>(body: () => T): T {
    const outer = this.#declared.length
    try {
      return body()
    } finally {
      this.#declared.length = outer
    }
  }

  apart<T>(body: () => T): T {
    const outer = this.#first
    this.#first = this.#declared.length
    try {
      return this.within(body)
    } finally {
      this.#first = outer
    }
  }

  declare(name: string): { slot: number; define(type: ExpressionType): void } {
    if (!NAME.test(name)) throw invalid('a variable name has letters, digits and underscores')
    if (this.#find(name) !== undefined) throw invalid(`variable ${name} is declared twice`)
    const variable: Variable = { name, slot: this.#declared.length, type: undefined }
    this.#declared.push(variable)
    this.slots = Math.max(this.slots, this.#declared.length)
    return {
      slot: variable.slot,
      define: (type) => {
        variable.type = type
      },
    }
  }

  lookup(name: string): { slot: number; type: ExpressionType } {
    const variable = this.#find(name)
    if (variable?.type === undefined) throw invalid(`variable ${name} is not defined`)
    return { slot: variable.slot, type: variable.type }
  }

  #find(name: string): Variable | undefined {
    return this.#declared.find((each, at) => at >= this.#first && each.name === name)
  }
}
