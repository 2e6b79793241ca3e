import type { DeleteCommand, ReadCommand, WriteCommand } from './command.js'
import { mergeCommands } from './merge.js'
import type { Outcome, StoredRecord } from './outcome.js'
import { plan, stage, type Plan, type Stage } from './plan.js'
import { recordId } from './record-key.js'

/**
 * Stages in the order in which they run where no transaction carries them. `mark` says of a record that its delete has begun; `undo`
 * takes back references to records that turned out to be gone, and runs whatever else failed.
 */
export const STAGE_NAMES = ['write', 'add references', 'mark', 'remove references', 'delete', 'undo'] as const
export type StageName = (typeof STAGE_NAMES)[number]

/** Told what became of a command; true when that is as good as done for whoever added it. It may add commands to stages that follow. */
export type Settle = (outcome: Outcome) => boolean

/** A read that goes out beside the next stage, and what follows from it. */
export interface Check {
  readonly command: ReadCommand
  readonly then: (record: StoredRecord | null) => void
}

interface Entry {
  readonly commands: (WriteCommand | DeleteCommand)[]
  readonly settle: Settle[]
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
  /** The outcomes that somebody does not accept. */
  settle(outcomes: readonly Outcome[]): Outcome[]
}

export interface DraftOptions {
  /** Everything goes into one transaction: one write for each record, no stages. */
  readonly isTransaction?: boolean
}

/** A plan in the making: whatever takes part in a flush adds its commands, and those to one record become one. */
export class PlanDraft {
  /** The time that everything in this plan is stamped with. */
  readonly now: Date
  readonly isTransaction: boolean
  readonly #stages = new Map<string, PendingStage>()
  readonly #seen = new Set<string>()
  #checks: Check[] = []

  constructor(now: Date, options: DraftOptions = {}) {
    this.now = now
    this.isTransaction = options.isTransaction ?? false
  }

  add(name: StageName, command: WriteCommand | DeleteCommand, settle: Settle, depth = 0): void {
    const at = this.isTransaction ? 'transaction' : `${name} ${depth}`
    let pending = this.#stages.get(at)
    if (pending === undefined) this.#stages.set(at, (pending = { name, depth, entries: new Map<string, Entry>() }))
    const id = recordId(command.key)
    const entry = pending.entries.get(id)
    if (entry === undefined) pending.entries.set(id, { commands: [command], settle: [settle] })
    else {
      entry.commands.push(command)
      entry.settle.push(settle)
    }
  }

  /** Reads a record again once the stage that is being settled is done. */
  check(command: ReadCommand, then: Check['then']): void {
    this.#checks.push({ command, then })
  }

  /** True the first time: what both sides of a relation would plan is planned once. */
  once(id: string): boolean {
    if (this.#seen.has(id)) return false
    this.#seen.add(id)
    return true
  }

  get isEmpty(): boolean {
    return this.#stages.size === 0
  }

  /** Takes out the stage that comes next. */
  next(): ReadyStage | undefined {
    const [at] = this.#order()
    if (at === undefined) return undefined
    const pending = this.#stages.get(at)!
    this.#stages.delete(at)
    return readyStage(pending)
  }

  takeChecks(): readonly Check[] {
    const checks = this.#checks
    this.#checks = []
    return checks
  }

  plan(): Plan {
    const stages = this.#order().map((at) => readyStage(this.#stages.get(at)!).stage)
    return plan(stages, { transaction: this.isTransaction })
  }

  #order(): string[] {
    const rank = ({ name, depth }: PendingStage): number => STAGE_NAMES.indexOf(name) - depth / 1_000_000
    return [...this.#stages.keys()].sort((a, b) => rank(this.#stages.get(a)!) - rank(this.#stages.get(b)!))
  }
}

function readyStage({ name, entries }: PendingStage): ReadyStage {
  const all = [...entries.values()]
  return {
    name,
    stage: stage(
      name,
      all.map(({ commands }) => mergeCommands(commands)[0]),
    ),
    settle: (outcomes) =>
      outcomes.filter((outcome, i) => {
        // Everyone must be told, so no short cut at the first that refuses.
        const accepted = all[i].settle.map((settle) => settle(outcome))
        return accepted.includes(false)
      }),
  }
}
