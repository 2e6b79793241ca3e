import type { DeleteCommand, WriteCommand } from './command.js'
import { mergeCommands } from './merge.js'
import type { Outcome } from './outcome.js'
import { plan, stage, type Plan, type Stage } from './plan.js'
import { recordId } from './record-key.js'

/** Stages in the order in which they run where no transaction carries them. */
export const STAGE_NAMES = ['write', 'add references', 'remove references', 'delete'] as const
export type StageName = (typeof STAGE_NAMES)[number]

/** Told what became of a command; true when that is as good as done for whoever added it. */
export type Settle = (outcome: Outcome) => boolean

interface Entry {
  readonly commands: (WriteCommand | DeleteCommand)[]
  readonly settle: Settle[]
}

/** A stage that is ready to run; `settle` must be given one outcome for each of its commands. */
export interface ReadyStage {
  readonly stage: Stage
  /** The outcomes that somebody does not accept. */
  readonly settle: (outcomes: readonly Outcome[]) => Outcome[]
}

/** A plan in the making: whatever takes part in a flush adds its commands, and those to one record become one. */
export class PlanDraft {
  /** The time that everything in this plan is stamped with. */
  readonly now: Date
  readonly #stages = new Map<StageName, Map<string, Entry>>()

  constructor(now: Date) {
    this.now = now
  }

  add(name: StageName, command: WriteCommand | DeleteCommand, settle: Settle): void {
    let entries = this.#stages.get(name)
    if (entries === undefined) this.#stages.set(name, (entries = new Map<string, Entry>()))
    const id = recordId(command.key)
    const entry = entries.get(id)
    if (entry === undefined) entries.set(id, { commands: [command], settle: [settle] })
    else {
      entry.commands.push(command)
      entry.settle.push(settle)
    }
  }

  get isEmpty(): boolean {
    return this.#stages.size === 0
  }

  stages(): ReadyStage[] {
    return STAGE_NAMES.flatMap((name) => {
      const entries = this.#stages.get(name)
      return entries === undefined ? [] : [readyStage(name, [...entries.values()])]
    })
  }

  plan(): Plan {
    return plan(this.stages().map((ready) => ready.stage))
  }
}

function readyStage(name: StageName, entries: readonly Entry[]): ReadyStage {
  return {
    stage: stage(
      name,
      entries.map(({ commands }) => mergeCommands(commands)[0]),
    ),
    settle: (outcomes) =>
      outcomes.filter((outcome, i) => {
        // Everyone must be told, so no short cut at the first that refuses.
        const accepted = entries[i].settle.map((settle) => settle(outcome))
        return accepted.includes(false)
      }),
  }
}
