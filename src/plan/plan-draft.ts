import { DraftForRecord } from './draft-for-record.js'
import { bug, type SkeinError } from '../errors/index.js'
import type { DeleteCommand, Guard, ReadCommand, WriteCommand } from './command.js'
import { withDeferredSteps, type DeferredStep, type DescribeStep } from './deferred-steps.js'
import {
  STAGE_NAMES,
  type Check,
  type CompleteWrite,
  type Draft,
  type Contribution,
  type PendingStage,
  type ReadyStage,
  RETRIED,
  type DraftOptions,
  type FollowUp,
  type Settle,
  type StageName,
} from './draft.js'
import type { Outcome, Reason } from './outcome.js'
import { plan, type Plan } from './plan.js'
import { mergeContributions } from './merge-commands.js'
import { settleFailure } from './settle-failure.js'
import { RecordGroups, recordId, type RecordKey } from './record-key.js'

interface Collected {
  readonly items: unknown[]
  readonly then: (items: readonly unknown[]) => void
}

const MISSING: readonly Reason[] = ['missing']
const NOTHING: readonly Reason[] = []
/** A deleted record has lost its references, too. */
const MAY_BE_MISSING: ReadonlySet<StageName> = new Set<StageName>(['mark', 'remove references', 'delete', 'undo'])

/** Builds a plan: contributors add commands, and those to one record are merged. */
export class PlanDraft implements Draft {
  readonly now: Date
  readonly isTransaction: boolean
  readonly isInside: boolean
  readonly #complete: CompleteWrite | undefined
  readonly #stages = new Map<string, PendingStage>()
  readonly #seen = new Set<string>()
  readonly #deletes: (id: string) => boolean
  #ties = new RecordGroups()
  #checks: Check[] = []
  readonly #followUps: FollowUp[] = []
  readonly #collected = new Map<string, Collected>()
  #beforeSending: (() => void)[] = []
  readonly #following: DeferredStep[] = []
  /** Target of commands that are added while a part of this draft is being sent. */
  #sent: PlanDraft | undefined

  constructor(now: Date, options: DraftOptions = {}) {
    this.now = now
    this.isTransaction = options.isTransaction ?? false
    this.isInside = options.isInside ?? false
    this.#complete = options.complete
    this.#deletes = options.deletes ?? NONE
  }

  /** View of the draft for contributors to one record: all commands they add are tied to it, updates of it have these guards, and deletes run at its depth. */
  for(key: RecordKey, depth = 0, guards: readonly Guard[] = []): Draft {
    return this.isInside && guards.length === 0 ? this : new DraftForRecord(this, key, depth, guards)
  }

  add(name: StageName, command: WriteCommand | DeleteCommand, settle: Settle, depth = 0): void {
    if (this.#sent !== undefined) return this.#sent.add(name, command, settle, depth)
    const mayBeMissing = command.kind === 'delete' || MAY_BE_MISSING.has(name)
    const tolerated = settle.tolerates ?? (mayBeMissing ? MISSING : NOTHING)
    const at = this.isTransaction ? TRANSACTION : `${name} ${depth}`
    put(this.#entries(at, name, depth), recordId(command.key), { command, settle, tolerated })
  }

  addApart(name: StageName, command: WriteCommand, settle: Settle, group?: string): void {
    if (this.#sent !== undefined) return this.#sent.addApart(name, command, settle, group)
    if (this.isTransaction) throw bug('a transaction has one write for each record', { className: command.entity })
    const entries = this.#entries(`${name} 0`, name, 0)
    put(entries, `${recordId(command.key)} ${group ?? entries.size}`, { command, settle, tolerated: MISSING })
  }

  followUp(work: FollowUp): void {
    if (this.#sent === undefined) this.#followUps.push(work)
    else this.#sent.followUp(work)
  }

  get hasFollowUps(): boolean {
    return this.#followUps.length > 0
  }

  takeFollowUps(): readonly FollowUp[] {
    return this.#followUps.splice(0)
  }

  beforeSending(then: () => void): void {
    this.#beforeSending.push(then)
  }

  follow(name: StageName, tell: DescribeStep, of?: string): void {
    this.#following.push({ name, tell, of })
  }

  /** Marks the draft as being sent. */
  begin(): void {
    const noted = this.#beforeSending
    this.#beforeSending = []
    for (const then of noted) then()
  }

  check(command: ReadCommand, then: Check['then']): void {
    if (this.#sent === undefined) this.#checks.push({ command, then })
    else this.#sent.check(command, then)
  }

  collect<T>(id: string, item: T, then: (items: readonly T[]) => void): void {
    if (this.#sent !== undefined) return this.#sent.collect(id, item, then)
    const known = this.#collected.get(id)
    if (known === undefined) this.#collected.set(id, { items: [item], then: then as Collected['then'] })
    else known.items.push(item)
  }

  once(id: string): boolean {
    if (this.#seen.has(id)) return false
    this.#seen.add(id)
    return true
  }

  isPlanned(id: string): boolean {
    return this.#seen.has(id)
  }

  tie(a: RecordKey, b: RecordKey): void {
    this.#ties.tie(recordId(a), recordId(b))
  }

  isDeleting(key: RecordKey): boolean {
    return this.#deletes(recordId(key))
  }

  get isEmpty(): boolean {
    return this.#stages.size === 0
  }

  /** Takes out the next stage, without commands that must wait; rollbacks never wait. */
  next(mustWait?: (id: string) => boolean): ReadyStage | undefined {
    this.begin()
    const [at] = this.#order()
    if (at === undefined) return undefined
    const pending = this.#stages.get(at)!
    this.#stages.delete(at)
    return readyStage(pending, this.#complete, pending.name === 'undo' ? undefined : mustWait)
  }

  /** Tests whether a record is tied to one of these. */
  tiedTo(ids: Iterable<string>): (id: string) => boolean {
    return this.#ties.sameGroupAs(ids)
  }

  takeChecks(): readonly Check[] {
    const collected = [...this.#collected.values()]
    this.#collected.clear()
    for (const { items, then } of collected) then(items)
    const checks = this.#checks
    this.#checks = []
    return checks
  }

  /** Name of the stage that `next` takes out. */
  get nextName(): StageName | undefined {
    const [at] = this.#order()
    return at === undefined ? undefined : this.#stages.get(at)!.name
  }

  plan(): Plan {
    const stages = this.#order().map((at) => readyStage(this.#stages.get(at)!, this.#complete).stage)
    const { isTransaction: transaction } = this
    return plan(withDeferredSteps(stages, this.#following, transaction, STAGE_NAMES), { transaction })
  }

  /** Groups the records of a transaction draft by what must change together. */
  groups(): string[][] {
    return this.#ties.groups(this.#stages.get(TRANSACTION)?.entries.keys() ?? [])
  }

  /** Names the group of a record. */
  groupOf(id: string): string {
    return this.#ties.groupOf(id)
  }

  /** True when a transaction draft leaves out a part of a record's changes if the record is not as expected. */
  isConditional(id: string): boolean {
    const added = this.#stages.get(TRANSACTION)?.entries.get(id)
    return added?.some(({ tolerated }) => tolerated.includes('guard')) ?? false
  }

  /** Tests whether a record of a transaction draft is one of these, or is not written itself and tied to one of them. */
  belongsTo(ids: readonly string[]): (id: string) => boolean {
    const written = this.#stages.get(TRANSACTION)?.entries
    const [wanted, isTied] = [new Set(ids), this.#ties.sameGroupAs(ids)]
    return (id) => (written?.has(id) ? wanted.has(id) : isTied(id))
  }

  /** Extracts from a transaction draft the plan for these records alone. */
  part(ids: readonly string[], options: DraftOptions): PlanDraft {
    const part = new PlanDraft(this.now, { complete: this.#complete, ...options })
    const entries = this.#stages.get(TRANSACTION)!.entries
    part.#ties = this.#ties
    const target = part.#entries(part.isTransaction ? TRANSACTION : 'write 0', 'write', 0)
    for (const id of ids) target.set(id, entries.get(id)!)
    const belongs = this.belongsTo(ids)
    part.#following.push(...this.#following.filter(({ of }) => of !== undefined && belongs(of)))
    if (!part.isTransaction) this.#sent = part
    return part
  }

  #entries(at: string, name: StageName, depth: number): Map<string, Contribution[]> {
    let pending = this.#stages.get(at)
    if (pending === undefined) {
      pending = { name: this.isTransaction ? 'write' : name, depth, entries: new Map<string, Contribution[]>() }
      this.#stages.set(at, pending)
    }
    return pending.entries
  }

  #order(): string[] {
    const rank = ({ name, depth }: PendingStage): number => STAGE_NAMES.indexOf(name) - depth / 1_000_000
    return [...this.#stages.keys()].sort((a, b) => rank(this.#stages.get(a)!) - rank(this.#stages.get(b)!))
  }
}

const TRANSACTION = 'transaction'
const NONE = (): boolean => false

/** Waits for the contributors that have to read first; undefined where none has to. */
export function together(planned: readonly (void | Promise<unknown>)[]): Promise<void> | undefined {
  const reading = planned.filter((each) => each !== undefined)
  return reading.length === 0 ? undefined : Promise.all(reading).then(() => undefined)
}

function put(entries: Map<string, Contribution[]>, id: string, contribution: Contribution): void {
  const known = entries.get(id)
  if (known === undefined) entries.set(id, [contribution])
  else known.push(contribution)
}

function tell(settle: Settle, outcome: Outcome, broken: SkeinError[]): ReturnType<Settle> {
  try {
    return settle(outcome)
  } catch (error) {
    broken.push(settleFailure(outcome, error))
    return outcome.state === 'written'
  }
}

/** Merges the commands of each record; those that must wait are held back. */
function readyStage(
  { name, entries }: PendingStage,
  complete: CompleteWrite | undefined,
  mustWait?: (id: string) => boolean,
): ReadyStage {
  const all: (readonly Contribution[])[] = []
  const held: (readonly Contribution[])[] = []
  const broken: SkeinError[] = []
  const retried = new Set<Outcome>()
  for (const added of entries.values()) (mustWait?.(recordId(added[0].command.key)) ? held : all).push(added)
  return {
    name,
    stage: { title: name, commands: all.map((added) => mergeContributions(added, complete)) },
    broken,
    retried,
    holdBack: (missing) =>
      held.map((added) => {
        const command = mergeContributions(added, complete)
        const found = missing.get(recordId(command.key))
        if (found === undefined) return { command, state: 'notWritten', bins: {}, reason: 'notSent' }
        const outcome: Outcome = { ...found, command }
        for (const { settle } of added) tell(settle, outcome, broken)
        return outcome
      }),
    settle: (outcomes) =>
      outcomes.flatMap((outcome, i) => {
        // Every contributor must be settled, so no short cut at the first refusal.
        const accepted = all[i].map(({ settle }) => tell(settle, outcome, broken))
        const error = accepted.find((answer) => typeof answer === 'object')
        if (accepted.includes(RETRIED)) retried.add(outcome)
        if (error !== undefined) return { ...outcome, state: 'notWritten' as const, reason: 'missing' as const, error }
        return accepted.includes(false) ? outcome : []
      }),
    refused: (outcomes) =>
      outcomes.filter(({ state, reason }, i) => {
        if (state === 'written') return false
        return state === 'inDoubt' || !all[i].every(({ tolerated }) => tolerated.includes(reason!))
      }),
    remedies: (outcomes) =>
      outcomes.flatMap((outcome, i) =>
        outcome.state === 'written' ? [] : all[i].flatMap(({ settle }) => settle.remedy?.(outcome) ?? []),
      ),
  }
}
