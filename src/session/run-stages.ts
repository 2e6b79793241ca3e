import { RestrictedError } from '../errors/index.js'
import type { CallOptions } from '../driver/outcome.js'
import type { Driver } from '../driver/driver.js'
import type { DeleteCommand, WriteCommand } from '../plan/command.js'
import type { Check, PlanDraft, ReadyStage } from '../plan/draft.js'
import type { Outcome } from '../plan/outcome.js'
import type { Stage } from '../plan/plan.js'
import { takeMarkOff } from '../relations/mark.js'

/** What became of every command of a plan. */
export interface RunResult {
  readonly stages: readonly Stage[]
  readonly outcomes: readonly Outcome[]
  /** Those that are not as good as done. */
  readonly failed: readonly Outcome[]
  /** Why a transaction failed as a whole. */
  readonly error?: unknown
  /** It was not the only thing sent. */
  readonly isPart?: boolean
}

/**
 * Runs stage after stage; each moves its entities forward as it is answered, and may add to those that follow. After a failure the
 * stages that follow stay unsent, but for what has to be taken back.
 */
export async function runStages(
  draft: PlanDraft,
  driver: Driver,
  options: CallOptions,
  marked?: AfterMark,
): Promise<RunResult> {
  const stages: Stage[] = []
  const outcomes: Outcome[] = []
  const failed: Outcome[] = []
  for (;;) {
    const checks = draft.takeChecks()
    const ready = draft.next()
    if (ready === undefined && checks.length === 0) return { stages, outcomes, failed }
    // A transaction that failed is undone as a whole.
    if (draft.isTransaction && failed.length > 0) return { stages, outcomes, failed }
    const checking = runChecks(checks, driver, options)
    if (ready !== undefined) {
      const isSent = failed.length === 0 || ready.name === 'undo'
      const answered = await (isSent ? driver.run(commandsOf(ready), options) : commandsOf(ready).map(notSent))
      const refused = isSent ? ready.settle(answered) : answered
      stages.push(ready.stage)
      const judged = new Map(refused.map((outcome) => [outcome.command, outcome]))
      outcomes.push(...answered.map((outcome) => judged.get(outcome.command) ?? outcome))
      failed.push(...refused)
      if (ready.name === 'mark' && isSent) await afterMark(draft, answered, refused, driver, marked)
    }
    await checking
  }
}

/** Adds to the plan what came before records were marked; what comes later is refused. */
export type AfterMark = (draft: PlanDraft) => Promise<void>

/** A record that may not be deleted after all is there again. */
async function afterMark(
  draft: PlanDraft,
  answered: readonly Outcome[],
  refused: readonly Outcome[],
  driver: Driver,
  marked: AfterMark | undefined,
): Promise<void> {
  const marks = answered.filter(({ state }) => state === 'written').map(({ command }) => command)
  const unmarks = marks.map(({ entity, key }) => takeMarkOff(entity, key))
  if (refused.some(({ reason }) => reason === 'guard')) for (const each of unmarks) draft.add('undo', each, () => true)
  if (refused.length > 0) return
  try {
    await marked?.(draft)
  } catch (error) {
    if (error instanceof RestrictedError) await driver.run(unmarks)
    throw error
  }
}

const commandsOf = ({ stage }: ReadyStage) => stage.commands as readonly (WriteCommand | DeleteCommand)[]

/** A check that cannot be made changes nothing: what it would have found, verify finds. */
async function runChecks(checks: readonly Check[], driver: Driver, options: CallOptions): Promise<void> {
  if (checks.length === 0) return
  const commands = checks.map(({ command }) => command)
  const records = await driver.read(commands, options).catch(() => undefined)
  if (records !== undefined) checks.forEach(({ then }, i) => then(records[i]))
}

function notSent(command: WriteCommand | DeleteCommand): Outcome {
  return { command, state: 'notWritten', bins: {}, reason: 'notSent' }
}
