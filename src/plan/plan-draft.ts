import { bug } from '../errors/index.js'
import type { DeleteCommand, Guard, ReadCommand, WriteCommand } from './command.js'
import { withDeferredSteps, type DeferredStep, type DescribeStep } from './deferred-steps.js'
import {
  STAGE_NAMES,
  type Check,
  type Collected,
  type CompleteWrite,
  type Draft,
  type Contribution,
  type PendingStage,
  type ReadyStage,
  type DraftOptions,
  type FollowUp,
  type Settle,
  type StageName,
  type Subject,
} from './draft.js'
import type { Reason } from './outcome.js'
import { plan, type Plan } from './plan.js'
import { addTo, readyStage } from './merge-commands.js'
import { RecordGroups, recordId, type RecordKey } from './record-key.js'

const MISSING: readonly Reason[] = ['missing']
const NOTHING: readonly Reason[] = []
/** A deleted record has lost its references, too. */
const MAY_BE_MISSING: ReadonlySet<StageName> = new Set<StageName>(['mark', 'remove references', 'delete', 'undo'])

/** Everything that is planned so far; shared by the views of a draft. */
interface Planned {
  readonly complete: CompleteWrite | undefined
  readonly deletes: (id: string) => boolean
  readonly defer: (id: string) => boolean
  readonly stages: Map<string, PendingStage>
  readonly seen: Set<string>
  readonly followUps: FollowUp[]
  readonly collected: Map<string, Collected>
  readonly following: DeferredStep[]
  ties: RecordGroups
  checks: Check[]
  beforeSending: (() => void)[]
  /** Target of commands that are added while a part of this draft is being sent. */
  sent: PlanDraft | undefined
  isBegun: boolean
}

/** Builds a plan: contributors add commands, and those to one record are merged. */
export class PlanDraft implements Draft {
  readonly now: Date
  readonly isTransaction: boolean
  readonly isInside: boolean
  readonly #planned: Planned
  readonly #subject: Subject | undefined

  constructor(now: Date, options: DraftOptions = {}, planned: Planned = nothing(options), subject?: Subject) {
    this.now = now
    this.isTransaction = options.isTransaction ?? false
    this.isInside = options.isInside ?? false
    this.#planned = planned
    this.#subject = subject
  }

  /** View of the draft for contributors to one record: all commands they add are tied to it, updates of it have these guards, and deletes run at its depth. */
  for(key: RecordKey, depth = 0, guards: readonly Guard[] = []): Draft {
    if (this.isInside && guards.length === 0) return this
    return new PlanDraft(this.now, this, this.#planned, { key, depth, guards })
  }

  get isBegun(): boolean {
    return this.#planned.sent?.isBegun ?? this.#planned.isBegun
  }

  add(name: StageName, command: WriteCommand | DeleteCommand, settle: Settle, isFirst = false): void {
    this.#tieTo(command.key)
    this.#put(name, this.#guarded(command), settle, name === 'delete' ? this.#depthOf(command) : 0, isFirst)
  }

  #put(name: StageName, command: WriteCommand | DeleteCommand, settle: Settle, depth: number, isFirst: boolean): void {
    const { sent } = this.#planned
    if (sent !== undefined) return sent.#put(name, command, settle, depth, isFirst)
    const mayBeMissing = command.kind === 'delete' || MAY_BE_MISSING.has(name)
    const tolerated = settle.tolerates ?? (mayBeMissing ? MISSING : NOTHING)
    const at = this.isTransaction ? TRANSACTION : `${name} ${depth}`
    addTo(this.#entries(at, name, depth), recordId(command.key), { command, settle, tolerated }, isFirst)
  }

  addApart(name: StageName, command: WriteCommand, settle: Settle, group?: string): void {
    this.#tieTo(command.key)
    const { sent } = this.#planned
    if (sent !== undefined) return sent.addApart(name, command, settle, group)
    if (this.isTransaction) throw bug('a transaction has one write for each record', { className: command.entity })
    const entries = this.#entries(`${name} 0`, name, 0)
    addTo(entries, `${recordId(command.key)} ${group ?? entries.size}`, { command, settle, tolerated: MISSING })
  }

  followUp(work: FollowUp): void {
    const { sent, followUps } = this.#planned
    if (sent === undefined) followUps.push(work)
    else sent.followUp(work)
  }

  get hasFollowUps(): boolean {
    return this.#planned.followUps.length > 0
  }

  takeFollowUps(): readonly FollowUp[] {
    return this.#planned.followUps.splice(0)
  }

  beforeSending(then: () => void): void {
    this.#planned.beforeSending.push(then)
  }

  follow(name: StageName, tell: DescribeStep): void {
    const of = this.#subject && recordId(this.#subject.key)
    this.#planned.following.push({ name, tell, of })
  }

  /** Marks the draft as being sent. */
  begin(): void {
    const { beforeSending } = this.#planned
    Object.assign(this.#planned, { isBegun: true, beforeSending: [] })
    for (const then of beforeSending) then()
  }

  check(command: ReadCommand, then: Check['then']): void {
    const { sent, checks } = this.#planned
    if (sent === undefined) checks.push({ command, then })
    else sent.check(command, then)
  }

  collect<T>(id: string, item: T, then: (items: readonly T[]) => void): void {
    const { sent, collected } = this.#planned
    if (sent !== undefined) return sent.collect(id, item, then)
    const known = collected.get(id)
    if (known === undefined) collected.set(id, { items: [item], then: then as Collected['then'] })
    else known.items.push(item)
  }

  once(id: string): boolean {
    if (this.#planned.seen.has(id)) return false
    this.#planned.seen.add(id)
    return true
  }

  isPlanned(id: string): boolean {
    return this.#planned.seen.has(id)
  }

  tie(a: RecordKey, b: RecordKey): void {
    this.#planned.ties.tie(recordId(a), recordId(b))
  }

  isDeleting(key: RecordKey): boolean {
    return this.#planned.deletes(recordId(key))
  }

  deferToTransaction(key: RecordKey): boolean {
    return this.#planned.defer(recordId(key))
  }

  get isEmpty(): boolean {
    return this.#planned.stages.size === 0
  }

  /** Takes out the next stage, without commands that must wait; rollbacks never wait. */
  next(mustWait?: (id: string) => boolean): ReadyStage | undefined {
    this.begin()
    const [at] = this.#order()
    if (at === undefined) return undefined
    const pending = this.#planned.stages.get(at)!
    this.#planned.stages.delete(at)
    return readyStage(pending, this.#planned.complete, pending.name === 'undo' ? undefined : mustWait)
  }

  /** Tests whether a record is tied to one of these. */
  tiedTo(ids: Iterable<string>): (id: string) => boolean {
    return this.#planned.ties.sameGroupAs(ids)
  }

  takeChecks(): readonly Check[] {
    const collected = [...this.#planned.collected.values()]
    this.#planned.collected.clear()
    for (const { items, then } of collected) then(items)
    const checks = this.#planned.checks
    this.#planned.checks = []
    return checks
  }

  /** Name of the stage that `next` takes out. */
  get nextName(): StageName | undefined {
    const [at] = this.#order()
    return at === undefined ? undefined : this.#planned.stages.get(at)!.name
  }

  plan(): Plan {
    const stages = this.#order().map((at) => readyStage(this.#planned.stages.get(at)!, this.#planned.complete).stage)
    const { isTransaction: transaction } = this
    return plan(withDeferredSteps(stages, this.#planned.following, transaction, STAGE_NAMES), { transaction })
  }

  /** Groups the records of a transaction draft by what must change together. */
  groups(): string[][] {
    return this.#planned.ties.groups(this.#planned.stages.get(TRANSACTION)?.entries.keys() ?? [])
  }

  /** Names the group of a record. */
  groupOf(id: string): string {
    return this.#planned.ties.groupOf(id)
  }

  /** True when a transaction draft leaves out a part of a record's changes if the record is not as expected. */
  isConditional(id: string): boolean {
    const added = this.#planned.stages.get(TRANSACTION)?.entries.get(id)
    return added?.some(({ tolerated }) => tolerated.includes('guard')) ?? false
  }

  /** Tests whether a record of a transaction draft is one of these, or is not written itself and tied to one of them. */
  belongsTo(ids: readonly string[]): (id: string) => boolean {
    const written = this.#planned.stages.get(TRANSACTION)?.entries
    const [wanted, isTied] = [new Set(ids), this.#planned.ties.sameGroupAs(ids)]
    return (id) => (written?.has(id) ? wanted.has(id) : isTied(id))
  }

  /** Extracts from a transaction draft the plan for these records alone. */
  part(ids: readonly string[], options: DraftOptions): PlanDraft {
    const part = new PlanDraft(this.now, { complete: this.#planned.complete, ...options })
    const entries = this.#planned.stages.get(TRANSACTION)!.entries
    part.#planned.ties = this.#planned.ties
    const target = part.#entries(part.isTransaction ? TRANSACTION : 'write 0', 'write', 0)
    for (const id of ids) target.set(id, entries.get(id)!)
    const belongs = this.belongsTo(ids)
    part.#planned.following.push(...this.#planned.following.filter(({ of }) => of !== undefined && belongs(of)))
    if (!part.isTransaction) this.#planned.sent = part
    return part
  }

  #entries(at: string, name: StageName, depth: number): Map<string, Contribution[]> {
    let pending = this.#planned.stages.get(at)
    if (pending === undefined) {
      pending = { name: this.isTransaction ? 'write' : name, depth, entries: new Map<string, Contribution[]>() }
      this.#planned.stages.set(at, pending)
    }
    return pending.entries
  }

  /** Records that belong to the one that is planned for go before it, and after what was deleted because of it. */
  #depthOf({ key }: DeleteCommand | WriteCommand): number {
    const subject = this.#subject
    if (subject === undefined) return 0
    return recordId(key) === recordId(subject.key) ? subject.depth : subject.depth + 0.5
  }

  #guarded<C extends WriteCommand | DeleteCommand>(command: C): C {
    const { key, guards } = this.#subject ?? NOBODY
    const isUpdate = command.kind === 'write' && command.exists === 'mustExist' && command.key === key
    return isUpdate && guards.length > 0 ? { ...command, guards: [...command.guards, ...guards] } : command
  }

  #tieTo(key: RecordKey): void {
    if (this.#subject !== undefined && key !== this.#subject.key) this.tie(this.#subject.key, key)
  }

  #order(): string[] {
    const rank = ({ name, depth }: PendingStage): number => STAGE_NAMES.indexOf(name) - depth / 1_000_000
    return [...this.#planned.stages.keys()].sort(
      (a, b) => rank(this.#planned.stages.get(a)!) - rank(this.#planned.stages.get(b)!),
    )
  }
}

const TRANSACTION = 'transaction'
const NONE = (): boolean => false
const NOBODY = { key: undefined, guards: [] }

const nothing = ({ complete, deletes = NONE, defer = NONE }: DraftOptions): Planned => ({
  complete,
  deletes,
  defer,
  stages: new Map(),
  seen: new Set(),
  followUps: [],
  collected: new Map(),
  following: [],
  ties: new RecordGroups(),
  checks: [],
  beforeSending: [],
  sent: undefined,
  isBegun: false,
})

/** Waits for the contributors that have to read first; undefined where none has to. */
export function together(planned: readonly (void | Promise<unknown>)[]): Promise<void> | undefined {
  const reading = planned.filter((each) => each !== undefined)
  return reading.length === 0 ? undefined : Promise.all(reading).then(() => undefined)
}
