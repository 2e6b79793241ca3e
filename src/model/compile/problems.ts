import { ModelError, type ModelErrorCode, type ModelProblem } from '../../errors/index.js'

/** Location of a problem. */
export interface Place {
  readonly className: string
  readonly property?: string
}

/** Gathers everything that is wrong, so that people fix a model in one go. */
export class Problems {
  readonly #problems: ModelProblem[] = []
  readonly #seen = new Set<string>()
  readonly #declaredBy = new Map<string, ReadonlyMap<string, string>>()

  /** Says which class declares each property, so that a wrong one is noted there, and not for every subclass that inherits it. */
  knowMembers(className: string, declaredBy: ReadonlyMap<string, string>): void {
    this.#declaredBy.set(className, declaredBy)
  }

  /** `message` says what is wrong, `fix` what to change; both are sentences. The same problem is noted once. */
  add(code: ModelErrorCode, place: Place, message: string, fix: string): void {
    const { property } = place
    const className = this.#declaredBy.get(place.className)?.get(property ?? '') ?? place.className
    const seen = [code, className, property, message].join('\0')
    if (this.#seen.has(seen)) return
    this.#seen.add(seen)
    this.#problems.push(Object.freeze({ code, className, ...(property !== undefined && { property }), message, fix }))
  }

  throwIfAny(): void {
    if (this.#problems.length > 0) throw new ModelError(this.#problems)
  }
}
