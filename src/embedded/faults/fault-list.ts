import type { FaultKind } from '../command/kind.js'
import type { Request } from '../protocol/request.js'
import type { FaultRule } from './fault.js'

class ActiveFault {
  #seen = 0
  hits = 0

  constructor(
    readonly id: number,
    readonly rule: FaultRule,
  ) {}

  matches(kind: FaultKind, request: Request): boolean {
    const { rule } = this
    if (rule.kinds !== undefined && !rule.kinds.includes(kind)) return false
    if (rule.namespace !== undefined && rule.namespace !== request.namespace) return false
    if (rule.set !== undefined && rule.set !== request.setName) return false
    return rule.digest === undefined || rule.digest === request.digest?.toString('latin1')
  }

  /** Counts a matching command; true when it is one the fault is meant for. */
  claim(): boolean {
    if (this.#seen++ < this.rule.skip || this.hits >= this.rule.times) return false
    this.hits++
    return true
  }
}

/** The faults in force, in the server's thread. */
export class FaultList {
  readonly #faults = new Map<number, ActiveFault>()
  #lastId = 0

  add(rule: FaultRule): number {
    const id = ++this.#lastId
    this.#faults.set(id, new ActiveFault(id, rule))
    return id
  }

  remove(id: number): void {
    this.#faults.delete(id)
  }

  clear(): void {
    this.#faults.clear()
  }

  hits(id: number): number {
    return this.#faults.get(id)?.hits ?? 0
  }

  /** The fault a command meets, if any: the oldest that matches and has not had its commands yet. */
  meet(kind: FaultKind, request: Request): FaultRule | undefined {
    for (const fault of this.#faults.values()) {
      if (fault.matches(kind, request) && fault.claim()) return fault.rule
    }
    return undefined
  }

  get any(): boolean {
    return this.#faults.size > 0
  }
}
