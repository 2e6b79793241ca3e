import type { KeyValue } from '../../../keys/index.js'
import { accumulates } from '../../../plan/effects.js'
import type { WriteOperation } from '../../../plan/operation.js'
import { userKeyId } from '../../../plan/record-key.js'
import type { SentPart } from '../../contract/relation-strategy.js'

/** A change that a handle has recorded, and its rollback. */
interface Recorded {
  readonly operation: WriteOperation
  readonly undo: () => void
}

/** A child whose write is under way, and the changes of handles that depend on its outcome. */
class PartOnItsWay implements SentPart {
  readonly sent: SentSnapshot
  readonly isPut: boolean
  readonly #carried: Recorded[] = []
  readonly #later: (() => void)[] = []

  constructor(sent: SentSnapshot, isPut: boolean) {
    this.sent = sent
    this.isPut = isPut
  }

  get snapshot(): object {
    return this.sent.snapshot
  }

  set snapshot(snapshot: object) {
    this.sent.snapshot = snapshot
  }

  carries(operation: WriteOperation, undo: () => void): void {
    this.#carried.push({ operation, undo })
  }

  follow(undo: () => void): void {
    this.#later.push(undo)
  }

  confirm(): void {
    for (const { undo } of this.#carried) undo()
  }

  /** The answer was lost: increments are never sent again. */
  doubt(): void {
    for (const { operation, undo } of this.#carried) if (accumulates(operation)) undo()
    if (this.isPut) this.drop()
  }

  drop(): void {
    for (const undo of this.#later.splice(0)) undo()
  }
}

/** The child as it was sent: known by this once the write is confirmed. */
interface SentSnapshot {
  readonly id: KeyValue
  snapshot: object
}

/** Children of one collection whose writes are under way. */
export class SentParts {
  readonly #parts = new Map<string, PartOnItsWay>()

  of(id: KeyValue): SentPart | undefined {
    return this.#parts.get(userKeyId(id))
  }

  /** A child is sent; a plan before that has it is not. */
  begin(sent: SentSnapshot, isPut: boolean): void {
    const name = userKeyId(sent.id)
    this.#parts.get(name)?.drop()
    this.#parts.set(name, new PartOnItsWay(sent, isPut))
  }

  confirmed(sent: SentSnapshot): void {
    this.#end(sent)?.confirm()
  }

  doubted(sent: SentSnapshot): void {
    this.#end(sent)?.doubt()
  }

  /** Ends what was planned and never answered, or refused. */
  drop(): void {
    for (const part of this.#parts.values()) part.drop()
    this.#parts.clear()
  }

  #end(sent: SentSnapshot): PartOnItsWay | undefined {
    const name = userKeyId(sent.id)
    const part = this.#parts.get(name)
    if (part?.sent !== sent) return undefined
    this.#parts.delete(name)
    return part
  }
}
