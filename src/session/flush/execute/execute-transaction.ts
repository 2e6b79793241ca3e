import { CommitInDoubtError } from '../../../errors/index.js'
import type { TransactionHandle } from '../../../driver/outcome.js'
import type { DeleteCommand, WriteCommand } from '../../../plan/command.js'
import type { PlanDraft } from '../../../plan/plan-draft.js'
import type { ReadyStage } from '../../../plan/ready-stage.js'
import type { Outcome } from '../../../plan/outcome.js'
import { collectChanges } from '../collect/collect-changes.js'
import { planChangeSet } from '../plan/plan-change-set.js'
import type { RunResult } from './execute-stages.js'
import { runErrands } from './run-errands.js'
import type { SendParts } from '../session-parts.js'
import { inTransaction } from '../../transaction/retry-transaction.js'
import { ChangeSet } from '../collect/change-set.js'

/** Stage that was sent last, with its outcomes. */
interface Sent {
  readonly draft: PlanDraft
  readonly ready: ReadyStage
  outcomes: readonly Outcome[]
}

/**
 * Writes entities that belong together in one transaction. They are planned in it, so that what the plan depends on cannot change
 * before the commit; they take over what became of them only when that is certain.
 */
export async function executeTransaction(
  members: ChangeSet,
  all: ChangeSet,
  parts: SendParts,
  signal: AbortSignal | undefined,
): Promise<RunResult> {
  const { driver } = parts.context
  let sent: Sent | undefined
  let isUndone = true
  const run = async (transaction: TransactionHandle): Promise<void> => {
    signal?.throwIfAborted()
    sent = await planInside(members, all, parts, transaction)
    if (sent === undefined) return
    sent.outcomes = await driver.run(commandsOf(sent), { transaction })
    const refused = sent.ready.refused(sent.outcomes)
    if (refused.length > 0) throw mostTelling(refused)
  }
  try {
    await inTransaction(driver, () => ({ run, undone: (isConfirmed) => (isUndone = isConfirmed) }))
  } catch (error) {
    return failure(sent, error, isUndone)
  }
  if (sent === undefined) return { stages: [], outcomes: [], failed: [] }
  const { ready, outcomes } = sent
  const failed = ready.settle(outcomes)
  await runErrands(sent.draft, driver, true)
  return { stages: [ready.stage], outcomes, failed, broken: ready.broken }
}

async function planInside(
  members: ChangeSet,
  all: ChangeSet,
  { context, entities, readerIn, around }: SendParts,
  transaction: TransactionHandle,
): Promise<Sent | undefined> {
  const reader = readerIn({ ...context, driver: context.driver, transaction })
  // Lists are read again, now as part of the transaction: members may have joined since.
  const removed = [...members.removed]
  const again = { done: all, isWhole: true, around }
  const reached = removed.length === 0 ? undefined : await collectChanges(() => removed, entities, reader, again)
  if (reached !== undefined) all.onRollback(() => reached.rollback())
  const work = new ChangeSet([...members.saved, ...removed], around, all)
  for (const managed of reached === undefined ? [] : [...reached.saved, ...reached.removed]) {
    work.add(managed)
    all.add(managed)
  }
  const draft = await planChangeSet(work, reader, new Date(), { isTransaction: true, isInside: true })
  const ready = draft.next()
  return ready === undefined ? undefined : { draft, ready, outcomes: [] }
}

const commandsOf = ({ ready }: Sent) => ready.stage.commands as readonly (WriteCommand | DeleteCommand)[]

/** A conflict first: it says that all of it may be tried again. */
function mostTelling(refused: readonly Outcome[]): unknown {
  const first = refused.find(({ reason }) => reason === 'conflict') ?? refused[0]
  return first.error
}

/** Nothing was written, or nobody knows. */
function failure(sent: Sent | undefined, error: unknown, isUndone: boolean): RunResult {
  if (sent === undefined) throw error
  const { ready, outcomes } = sent
  const isInDoubt = error instanceof CommitInDoubtError
  const refused = new Set(outcomes.length === 0 ? [] : ready.refused(outcomes))
  const told = commandsOf(sent).map((command, i): Outcome => {
    if (isInDoubt) return { command, state: 'inDoubt', bins: {}, reason: 'unavailable', error }
    const outcome = outcomes[i] as Outcome | undefined
    if (outcome !== undefined && refused.has(outcome)) return { ...outcome, state: 'notWritten' }
    return { command, state: 'notWritten', bins: {}, reason: isUndone ? 'undone' : 'abandoned' }
  })
  if (isInDoubt) ready.settle(told)
  const failed = [...told.filter((outcome) => !isCarried(outcome)), ...told.filter(isCarried)]
  return { stages: [ready.stage], outcomes: told, failed, error }
}

/** Failed only with its transaction. */
const isCarried = ({ reason }: Outcome): boolean => reason === 'undone' || reason === 'abandoned'
