/** Promises made to workers: for each fact the values it may have, which is one after an acknowledged operation. */
export class Expectations {
  readonly #facts = new Map<string, Set<unknown>>()

  done(fact: string, value: unknown): void {
    this.#facts.set(fact, new Set([value]))
  }

  /** Notes both values of a fact whose change is in doubt. */
  perhaps(fact: string, value: unknown): void {
    this.#facts.get(fact)!.add(value)
  }

  isSure(fact: string, value: unknown): boolean {
    const values = this.#facts.get(fact)!
    return values.size === 1 && values.has(value)
  }

  get facts(): IterableIterator<string> {
    return this.#facts.keys()
  }

  /** Facts that are certain, and those that are not. */
  get certainty(): { certain: number; open: number } {
    const certain = [...this.#facts.values()].filter(({ size }) => size === 1).length
    return { certain, open: this.#facts.size - certain }
  }

  /** Facts whose value is none of those expected. */
  broken(actual: (fact: string) => unknown): string[] {
    return [...this.#facts].flatMap(([fact, values]) => {
      const now = actual(fact)
      return values.has(now) ? [] : [`${fact} is ${String(now)}, not ${[...values].join(' or ')}`]
    })
  }
}
