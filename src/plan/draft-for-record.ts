import type { DeleteCommand, Guard, ReadCommand, WriteCommand } from './command.js'
import type { DescribeStep } from './deferred-steps.js'
import type { Check, Draft, FollowUp, Settle, StageName } from './draft.js'
import { recordId, type RecordKey } from './record-key.js'

/** The draft of all records. */
interface WholeDraft extends Draft {
  add(name: StageName, command: WriteCommand | DeleteCommand, settle: Settle, depth?: number): void
  follow(name: StageName, tell: DescribeStep, of?: string): void
}

/** View of a draft for contributors to one record: what they add is tied to it. */
export class DraftForRecord implements Draft {
  readonly #draft: WholeDraft
  readonly #key: RecordKey
  readonly #depth: number
  readonly #guards: readonly Guard[]

  constructor(draft: WholeDraft, key: RecordKey, depth: number, guards: readonly Guard[]) {
    this.#guards = guards
    this.#draft = draft
    this.#key = key
    this.#depth = depth
  }

  get now(): Date {
    return this.#draft.now
  }

  get isTransaction(): boolean {
    return this.#draft.isTransaction
  }

  get isInside(): boolean {
    return this.#draft.isInside
  }

  add(name: StageName, command: WriteCommand | DeleteCommand, settle: Settle): void {
    this.#tieTo(command.key)
    // Records that belong to this one go before it, and after what was deleted because of it.
    const depth = recordId(command.key) === recordId(this.#key) ? this.#depth : this.#depth + 0.5
    this.#draft.add(name, this.#guarded(command), settle, name === 'delete' ? depth : 0)
  }

  addApart(...args: Parameters<Draft['addApart']>): void {
    this.#tieTo(args[1].key)
    this.#draft.addApart(...args)
  }

  follow(name: StageName, tell: DescribeStep): void {
    this.#draft.follow(name, tell, recordId(this.#key))
  }

  followUp(work: FollowUp): void {
    this.#draft.followUp(work)
  }

  beforeSending(then: () => void): void {
    this.#draft.beforeSending(then)
  }

  check(command: ReadCommand, then: Check['then']): void {
    this.#draft.check(command, then)
  }

  collect<T>(id: string, item: T, then: (items: readonly T[]) => void): void {
    this.#draft.collect(id, item, then)
  }

  once(id: string): boolean {
    return this.#draft.once(id)
  }

  isPlanned(id: string): boolean {
    return this.#draft.isPlanned(id)
  }

  tie(a: RecordKey, b: RecordKey): void {
    this.#draft.tie(a, b)
  }

  isDeleting(key: RecordKey): boolean {
    return this.#draft.isDeleting(key)
  }

  #guarded<C extends WriteCommand | DeleteCommand>(command: C): C {
    const isUpdate = command.kind === 'write' && command.exists === 'mustExist' && command.key === this.#key
    return isUpdate && this.#guards.length > 0 ? { ...command, guards: [...command.guards, ...this.#guards] } : command
  }

  #tieTo(key: RecordKey): void {
    if (key !== this.#key) this.#draft.tie(this.#key, key)
  }
}
