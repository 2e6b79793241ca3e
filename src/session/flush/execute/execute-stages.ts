import { bug, RestrictedError, SkeinError } from '../../../errors/index.js'
import type { CallOptions } from '../../../driver/outcome.js'
import type { Driver } from '../../../driver/driver.js'
import type { DeleteCommand, WriteCommand } from '../../../plan/command.js'
import type { Check } from '../../../plan/draft.js'
import type { ReadyStage } from '../../../plan/draft.js'
import type { PlanDraft } from '../../../plan/plan-draft.js'
import { mergeReads } from '../../../plan/merge-reads.js'
import type { Outcome, StoredRecord } from '../../../plan/outcome.js'
import type { Stage } from '../../../plan/plan.js'
import { recordId, showKey } from '../../../plan/record-key.js'
import { takeMarkOff } from '../../../relations/write/delete-marker.js'
import type { SplitAccess } from '../../../plan/split-access.js'
import type { TransactionMode } from '../../context/open-options.js'
import { undoneOutcomes } from './undone-outcomes.js'
import { splitAccess } from '../../../driver/split-access.js'

/** Outcomes of all commands of a plan. */
export interface RunResult {
  readonly stages: readonly Stage[]
  readonly outcomes: readonly Outcome[]
  /** Outcomes that are not as good as done. */
  readonly failed: readonly Outcome[]
  /** Errors thrown by contributors while they were settled. */
  readonly broken?: readonly SkeinError[]
  /** Reason why a transaction failed as a whole. */
  readonly error?: unknown
  /** Other groups were sent beside it. */
  readonly isPart?: boolean
}

/**
 * Runs stage after stage; each moves its entities forward as it is answered, and may add to those that follow. After a failure,
 * whatever is tied to the record that failed stays unsent, but for what has to be rolled back; all else goes on.
 */
export async function executeStages(
  draft: PlanDraft,
  driver: Driver,
  options: CallOptions,
  marked?: AfterMark,
  mode?: TransactionMode,
): Promise<RunResult> {
  const stages: Stage[] = []
  const outcomes: Outcome[] = []
  const failed: Outcome[] = []
  const broken: SkeinError[] = []
  const missing = new Map<string, Outcome>()
  const marks: Outcome[] = []
  const refusedMarks: Outcome[] = []
  let halt: Halt | undefined
  for (;;) {
    const checks = draft.takeChecks()
    if (draft.hasFollowUps) await runFollowUps(draft, splitAccess(driver, mode !== 'off'))
    const isStopped = stoppedBy(failed, draft)
    const ready = draft.next(halt === undefined ? isStopped : () => true)
    if (ready === undefined && checks.length === 0) break
    // A transaction that failed is undone as a whole.
    if (draft.isTransaction && failed.length > 0) break
    const checking = runChecks(checks, driver, options)
    if (ready !== undefined) {
      const commands = commandsOf(ready)
      const all = commands.length === 0 ? [] : await driver.run(commands, options)
      const refused = ready.settle(all)
      const answered = ready.retried.size === 0 ? all : all.filter((outcome) => !ready.retried.has(outcome))
      stages.push(ready.stage)
      const judged = new Map(refused.map((outcome) => [outcome.command, outcome]))
      for (const outcome of answered)
        if (outcome.reason === 'missing') missing.set(recordId(outcome.command.key), outcome)
      const unsent = ready.holdBack(missing).map((outcome) => withReason(outcome, halt))
      broken.push(...ready.broken)
      if (ready.name === 'undo') noteRolledBack(answered, outcomes, failed, stoppedBy([...failed, ...refused], draft))
      outcomes.push(...answered.map((outcome) => judged.get(outcome.command) ?? outcome), ...unsent)
      failed.push(...refused, ...unsent)
      if (ready.name === 'mark') {
        marks.push(...answered)
        refusedMarks.push(...refused)
        // Records that belong to a marked one are marked after it, and only then nothing more can come.
        if (draft.nextName !== 'mark')
          halt = await afterMark(draft, marks.splice(0), refusedMarks.splice(0), failed, driver, marked)
      }
    }
    broken.push(...(await checking))
  }
  if (halt?.error instanceof RestrictedError) throw halt.error
  return { stages, outcomes, failed, broken, ...(halt === undefined ? {} : { error: halt.error }) }
}

/** Reason why nothing more is sent, once records were marked. */
interface Halt {
  readonly error: unknown
}

function withReason(outcome: Outcome, halt: Halt | undefined): Outcome {
  return halt?.error instanceof SkeinError && outcome.error === undefined ? { ...outcome, error: halt.error } : outcome
}

type IsStopped = (id: string) => boolean

/** Records that must wait until what failed is done. */
function stoppedBy(failed: readonly Outcome[], draft: PlanDraft): IsStopped | undefined {
  return failed.length === 0 ? undefined : draft.tiedTo(failed.map(({ command }) => recordId(command.key)))
}

/** Notes what a failure has undone as not written. */
function noteRolledBack(
  answered: readonly Outcome[],
  outcomes: Outcome[],
  failed: Outcome[],
  isStopped: IsStopped | undefined,
): void {
  if (isStopped === undefined) return
  const undone = answered.filter(({ command }) => isStopped(recordId(command.key)))
  const back = undoneOutcomes(outcomes, undone)
  outcomes.forEach((outcome, i) => (outcomes[i] = back.get(outcome) ?? outcome))
  failed.push(...back.values())
}

/** Adds to the plan what came before records were marked; what comes later is refused. Those that are stopped are not marked, or not to go on. */
export type AfterMark = (draft: PlanDraft, isStopped: IsStopped) => Promise<void>

/** Looks for what came before the marks. A record that may not be deleted after all is there again; where the look fails, the delete has begun. */
async function afterMark(
  draft: PlanDraft,
  answered: readonly Outcome[],
  refused: readonly Outcome[],
  failed: readonly Outcome[],
  driver: Driver,
  marked: AfterMark | undefined,
): Promise<Halt | undefined> {
  const marks = answered.filter(({ state }) => state === 'written').map(({ command }) => command)
  const isRefused = stoppedBy(
    refused.filter(({ reason }) => reason === 'guard'),
    draft,
  )
  for (const { entity, key } of marks)
    if (isRefused?.(recordId(key))) draft.add('undo', takeMarkOff(entity, key), () => true)
  try {
    await marked?.(draft, stoppedBy(failed, draft) ?? (() => false))
    return undefined
  } catch (error) {
    if (error instanceof RestrictedError) await driver.run(marks.map(({ entity, key }) => takeMarkOff(entity, key)))
    return { error }
  }
}

const commandsOf = ({ stage }: ReadyStage) => stage.commands as readonly (WriteCommand | DeleteCommand)[]

/**
 * A check that cannot be made changes nothing: what it would have found, verify finds. It is under way while others are sent, so what
 * is thrown by those who asked is what it ends with: nobody would catch it.
 */
async function runChecks(checks: readonly Check[], driver: Driver, options: CallOptions): Promise<SkeinError[]> {
  if (checks.length === 0) return []
  const { commands, answeredBy } = mergeReads(checks.map(({ command }) => command))
  const records = await driver.read(commands, options).catch(() => undefined)
  if (records === undefined) return []
  return checks.flatMap((check, i) => tell(check, records[answeredBy[i]]) ?? [])
}

function tell({ command, then }: Check, record: StoredRecord | null): SkeinError | undefined {
  try {
    then(record)
    return undefined
  } catch (error) {
    if (error instanceof SkeinError) return error
    const { entity: className, key } = command
    return bug(`what was read of ${className} ${showKey(key)} cannot be used.`, {
      className,
      key: key.key,
      cause: error,
    })
  }
}

/** Runs follow-up work between stages. A transaction runs it after its commit: before that, the work would not see what was written. */
export async function runFollowUps(
  draft: PlanDraft,
  access: SplitAccess,
  isCommitted = !draft.isTransaction,
): Promise<void> {
  for (;;) {
    const followUps = draft.takeFollowUps()
    if (followUps.length === 0 || !isCommitted) return
    await Promise.all(followUps.map((followUp) => followUp(access)))
  }
}
