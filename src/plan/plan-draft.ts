import { bug, type SkeinError } from '../errors/index.js'
import type { DeleteCommand, ReadCommand, WriteCommand } from './command.js'
import { withDeferredSteps, type DeferredStep, type DescribeStep } from './deferred-steps.js'
import { mergeCommands } from './merge-commands.js'
import type { Outcome, Reason, StoredRecord } from './outcome.js'
import { settleFailure } from './settle-failure.js'
import { plan, stage, type Plan, type Stage } from './plan.js'
import { recordId, type RecordKey } from './record-key.js'
import { RecordGroups } from './record-groups.js'

/**
 * Stages in the order in which they run where no transaction carries them. `mark` says of a record that its delete has begun; `undo`
 * takes back references to records that turned out to be gone, and runs whatever else failed.
 */
export const STAGE_NAMES = ['write', 'add references', 'mark', 'remove references', 'delete', 'undo'] as const
export type StageName = (typeof STAGE_NAMES)[number]

/**
 * Told what became of a command; true when that is as good as done for whoever added it, an error when the command is done but what it
 * was part of is not. It may add commands to stages that follow.
 */
export type Settle = (outcome: Outcome) => boolean | SkeinError

/** A read that goes out beside the next stage, and what follows from it. */
export interface Check {
  readonly command: ReadCommand
  readonly then: (record: StoredRecord | null) => void
}

interface Entry {
  readonly commands: (WriteCommand | DeleteCommand)[]
  readonly settle: Settle[]
  /** For each command the reasons that do not matter to whoever added it. */
  readonly tolerated: (readonly Reason[])[]
}

interface PendingStage {
  readonly name: StageName
  /** Deletes run from the deepest level up: whatever is reached by a cascade goes before what it was reached from. */
  readonly depth: number
  readonly entries: Map<string, Entry>
}

/** A stage that is ready to run; `settle` must be given one outcome for each of its commands. */
export interface ReadyStage {
  readonly name: StageName
  readonly stage: Stage
  /**
   * What becomes of that which it leaves out, because something that it is tied to has failed. Those who would write to a record that
   * turned out to be missing are told, as if they had been sent: they may have to take something back.
   */
  holdBack(missing: ReadonlyMap<string, Outcome>): Outcome[]
  /** The outcomes that somebody does not accept. */
  settle(outcomes: readonly Outcome[]): Outcome[]
  /** What was thrown by those whom `settle` told; the others were told all the same. */
  readonly broken: readonly SkeinError[]
  /** The same, known before anybody is told: a transaction asks before it commits. */
  refused(outcomes: readonly Outcome[]): Outcome[]
}

export interface DraftOptions {
  /** Everything goes into one transaction: one write for each record, no stages. */
  readonly isTransaction?: boolean
  /** The transaction has begun: what is read for this plan is read in it. */
  readonly isInside?: boolean
}

/** What takes part in a flush sees of the plan. */
export interface Draft {
  /** The time that everything in this plan is stamped with. */
  readonly now: Date
  readonly isTransaction: boolean
  readonly isInside: boolean
  /** `tolerated`: why the command may fail without harm, where that is not plain from its stage. */
  add(
    name: StageName,
    command: WriteCommand | DeleteCommand,
    settle: Settle,
    depth?: number,
    tolerated?: readonly Reason[],
  ): void
  /** The same, as a command of its own: its conditions must not decide about anything else that happens to the record. Only in stages. */
  addApart(name: StageName, command: WriteCommand, settle: Settle): void
  /** What holds as soon as the plan is sent, without a command of its own; a plan that is only shown changes nothing. */
  beforeSending(then: () => void): void
  /** What a read will decide once this stage is sent, for those who look at the plan before. */
  follow(name: StageName, tell: DescribeStep): void
  /** Reads a record again once the stage that is being settled is done. */
  check(command: ReadCommand, then: Check['then']): void
  /** True the first time: what both sides of a relation would plan is planned once. */
  once(id: string): boolean
  /** Whether `once` was asked for it before. */
  isPlanned(id: string): boolean
  /** These records must change together. */
  tie(a: RecordKey, b: RecordKey): void
}

const MISSING: readonly Reason[] = ['missing']
const NOTHING: readonly Reason[] = []
/** What is gone has lost its references, too. */
const MAY_BE_MISSING: ReadonlySet<StageName> = new Set<StageName>(['mark', 'remove references', 'delete', 'undo'])

/** A plan in the making: whatever takes part in a flush adds its commands, and those to one record become one. */
export class PlanDraft implements Draft {
  readonly now: Date
  readonly isTransaction: boolean
  readonly isInside: boolean
  readonly #stages = new Map<string, PendingStage>()
  readonly #seen = new Set<string>()
  #ties = new RecordGroups()
  #checks: Check[] = []
  #beforeSending: (() => void)[] = []
  readonly #following: DeferredStep[] = []
  /** Where that goes which is added while a part of this draft is being sent. */
  #sent: PlanDraft | undefined

  constructor(now: Date, options: DraftOptions = {}) {
    this.now = now
    this.isTransaction = options.isTransaction ?? false
    this.isInside = options.isInside ?? false
  }

  /** The draft as those see it who plan for one record: all they add is tied to it. */
  for(key: RecordKey): Draft {
    return this.isInside ? this : new DraftForRecord(this, key)
  }

  add(
    name: StageName,
    command: WriteCommand | DeleteCommand,
    settle: Settle,
    depth = 0,
    tolerated = command.kind === 'delete' || MAY_BE_MISSING.has(name) ? MISSING : NOTHING,
  ): void {
    if (this.#sent !== undefined) return this.#sent.add(name, command, settle, depth, tolerated)
    const at = this.isTransaction ? TRANSACTION : `${name} ${depth}`
    const entries = this.#entries(at, name, depth)
    const id = recordId(command.key)
    const entry = entries.get(id)
    if (entry === undefined) entries.set(id, { commands: [command], settle: [settle], tolerated: [tolerated] })
    else {
      entry.commands.push(command)
      entry.settle.push(settle)
      entry.tolerated.push(tolerated)
    }
  }

  addApart(name: StageName, command: WriteCommand, settle: Settle): void {
    if (this.isTransaction) throw bug('a transaction has one write for each record', { className: command.entity })
    const entries = this.#entries(`${name} 0`, name, 0)
    const id = `${recordId(command.key)} ${entries.size}`
    entries.set(id, { commands: [command], settle: [settle], tolerated: [MISSING] })
  }

  beforeSending(then: () => void): void {
    this.#beforeSending.push(then)
  }

  follow(name: StageName, tell: DescribeStep, of?: string): void {
    this.#following.push({ name, tell, of })
  }

  /** It is being sent from now on. */
  begin(): void {
    const noted = this.#beforeSending
    this.#beforeSending = []
    for (const then of noted) then()
  }

  check(command: ReadCommand, then: Check['then']): void {
    if (this.#sent === undefined) this.#checks.push({ command, then })
    else this.#sent.check(command, then)
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

  get isEmpty(): boolean {
    return this.#stages.size === 0
  }

  /** Takes out the stage that comes next, without what must wait; what takes something back never waits. */
  next(mustWait?: (id: string) => boolean): ReadyStage | undefined {
    this.begin()
    const [at] = this.#order()
    if (at === undefined) return undefined
    const pending = this.#stages.get(at)!
    this.#stages.delete(at)
    return readyStage(pending, pending.name === 'undo' ? undefined : mustWait)
  }

  /** Whether a record is tied to one of these. */
  tiedTo(ids: Iterable<string>): (id: string) => boolean {
    return this.#ties.sameGroupAs(ids)
  }

  takeChecks(): readonly Check[] {
    const checks = this.#checks
    this.#checks = []
    return checks
  }

  plan(): Plan {
    const stages = this.#order().map((at) => readyStage(this.#stages.get(at)!).stage)
    const { isTransaction: transaction } = this
    return plan(withDeferredSteps(stages, this.#following, transaction, STAGE_NAMES), { transaction })
  }

  /** Of a draft for a transaction: the records that change, in groups that must change together. */
  groups(): string[][] {
    return this.#ties.groups(this.#stages.get(TRANSACTION)?.entries.keys() ?? [])
  }

  /** Of a draft for a transaction: whether a part of what is planned for a record is to be left out if it is not as expected. */
  isConditional(id: string): boolean {
    const entry = this.#stages.get(TRANSACTION)?.entries.get(id)
    return entry?.tolerated.some((reasons) => reasons.includes('guard')) ?? false
  }

  /** Of a draft for a transaction: whether a record is one of these, or is not written itself and tied to one of them. */
  belongsTo(ids: readonly string[]): (id: string) => boolean {
    const written = this.#stages.get(TRANSACTION)?.entries
    const [wanted, isTied] = [new Set(ids), this.#ties.sameGroupAs(ids)]
    return (id) => (written?.has(id) ? wanted.has(id) : isTied(id))
  }

  /** Of a draft for a transaction: what is planned for these records alone. */
  part(ids: readonly string[], options: DraftOptions): PlanDraft {
    const part = new PlanDraft(this.now, options)
    const entries = this.#stages.get(TRANSACTION)!.entries
    part.#ties = this.#ties
    const target = part.#entries(part.isTransaction ? TRANSACTION : 'write 0', 'write', 0)
    for (const id of ids) target.set(id, entries.get(id)!)
    const belongs = this.belongsTo(ids)
    part.#following.push(...this.#following.filter(({ of }) => of !== undefined && belongs(of)))
    if (!part.isTransaction) this.#sent = part
    return part
  }

  #entries(at: string, name: StageName, depth: number): Map<string, Entry> {
    let pending = this.#stages.get(at)
    if (pending === undefined) {
      pending = { name: this.isTransaction ? 'write' : name, depth, entries: new Map<string, Entry>() }
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

class DraftForRecord implements Draft {
  readonly #draft: PlanDraft
  readonly #key: RecordKey

  constructor(draft: PlanDraft, key: RecordKey) {
    this.#draft = draft
    this.#key = key
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

  add(...args: Parameters<Draft['add']>): void {
    this.#tieTo(args[1].key)
    this.#draft.add(...args)
  }

  addApart(...args: Parameters<Draft['addApart']>): void {
    this.#tieTo(args[1].key)
    this.#draft.addApart(...args)
  }

  follow(name: StageName, tell: DescribeStep): void {
    this.#draft.follow(name, tell, recordId(this.#key))
  }

  beforeSending(then: () => void): void {
    this.#draft.beforeSending(then)
  }

  check(command: ReadCommand, then: Check['then']): void {
    this.#draft.check(command, then)
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

  #tieTo(key: RecordKey): void {
    if (key !== this.#key) this.#draft.tie(this.#key, key)
  }
}

const merged = ({ commands }: Entry) => mergeCommands(commands)[0] as WriteCommand | DeleteCommand

function tell(settle: Settle, outcome: Outcome, broken: SkeinError[]): boolean | SkeinError {
  try {
    return settle(outcome)
  } catch (error) {
    broken.push(settleFailure(outcome, error))
    return outcome.state === 'written'
  }
}

function readyStage({ name, entries }: PendingStage, mustWait?: (id: string) => boolean): ReadyStage {
  const all: Entry[] = []
  const held: Entry[] = []
  const broken: SkeinError[] = []
  for (const entry of entries.values()) (mustWait?.(recordId(entry.commands[0].key)) ? held : all).push(entry)
  return {
    name,
    stage: stage(name, all.map(merged)),
    broken,
    holdBack: (missing) =>
      held.map((entry) => {
        const command = merged(entry)
        const found = missing.get(recordId(command.key))
        if (found === undefined) return { command, state: 'notWritten', bins: {}, reason: 'notSent' }
        const outcome: Outcome = { ...found, command }
        for (const settle of entry.settle) tell(settle, outcome, broken)
        return outcome
      }),
    settle: (outcomes) =>
      outcomes.flatMap((outcome, i) => {
        // Everyone must be told, so no short cut at the first that refuses.
        const accepted = all[i].settle.map((settle) => tell(settle, outcome, broken))
        const error = accepted.find((answer) => typeof answer === 'object')
        if (error !== undefined) return { ...outcome, state: 'notWritten' as const, reason: 'missing' as const, error }
        return accepted.includes(false) ? outcome : []
      }),
    refused: (outcomes) =>
      outcomes.filter(({ state, reason }, i) => {
        if (state === 'written') return false
        return state === 'inDoubt' || !all[i].tolerated.every((reasons) => reasons.includes(reason!))
      }),
  }
}
