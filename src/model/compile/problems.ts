import { ModelError, type ModelErrorCode, type ModelProblem } from '../../errors/index.js'

/** Where something is wrong. */
export interface Place {
  readonly className: string
  readonly property?: string
}

/** Gathers everything that is wrong, so that people fix a model in one go. */
export class Problems {
  readonly #problems: ModelProblem[] = []
  readonly #seen = new Set<string>()

  /** `message` says what is wrong, `fix` what to change; both are sentences. The same problem is noted once. */
  add(code: ModelErrorCode, { className, property }: Place, message: string, fix: string): void {
    const seen = [code, className, property, message].join('\0')
    if (this.#seen.has(seen)) return
    this.#seen.add(seen)
    this.#problems.push(Object.freeze({ code, className, ...(property !== undefined && { property }), message, fix }))
  }

  throwIfAny(): void {
    if (this.#problems.length > 0) throw new ModelError(this.#problems)
  }
}
