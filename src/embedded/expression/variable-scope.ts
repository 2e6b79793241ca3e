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
  readonly #inSight: Variable[] = []
  /** How many slots the whole expression needs. */
  slots = 0

  within<T>(body: () => T): T {
    const outer = this.#inSight.length
    const result = body()
    this.#inSight.length = outer
    return result
  }

  declare(name: string): { slot: number; define(type: ExpressionType): void } {
    if (!NAME.test(name)) throw invalid('a variable name has letters, digits and underscores')
    if (this.#inSight.some((variable) => variable.name === name)) throw invalid(`variable ${name} is declared twice`)
    const variable: Variable = { name, slot: this.#inSight.length, type: undefined }
    this.#inSight.push(variable)
    this.slots = Math.max(this.slots, this.#inSight.length)
    return {
      slot: variable.slot,
      define: (type) => {
        variable.type = type
      },
    }
  }

  lookup(name: string): { slot: number; type: ExpressionType } {
    const variable = this.#inSight.find((each) => each.name === name)
    if (variable?.type === undefined) throw invalid(`variable ${name} is not defined`)
    return { slot: variable.slot, type: variable.type }
  }
}
