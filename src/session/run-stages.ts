import type { CallOptions } from '../driver/outcome.js'
import type { Driver } from '../driver/driver.js'
import type { DeleteCommand, WriteCommand } from '../plan/command.js'
import type { ReadyStage } from '../plan/draft.js'
import type { Outcome } from '../plan/outcome.js'

/** What became of every command of a plan. */
export interface RunResult {
  readonly outcomes: readonly Outcome[]
  /** Those that are not as good as done. */
  readonly failed: readonly Outcome[]
}

/** Runs stage after stage; each moves its entities forward as it is answered. After a failure the stages that follow stay unsent. */
export async function runStages(
  stages: readonly ReadyStage[],
  driver: Driver,
  options: CallOptions,
): Promise<RunResult> {
  const outcomes: Outcome[] = []
  const failed: Outcome[] = []
  for (const { stage, settle } of stages) {
    const commands = stage.commands as readonly (WriteCommand | DeleteCommand)[]
    const answered = failed.length === 0 ? await driver.run(commands, options) : commands.map(notSent)
    const refused = failed.length === 0 ? settle(answered) : answered
    outcomes.push(...answered)
    failed.push(...refused)
  }
  return { outcomes, failed }
}

function notSent(command: WriteCommand | DeleteCommand): Outcome {
  return { command, state: 'notWritten', bins: {}, reason: 'notSent' }
}
