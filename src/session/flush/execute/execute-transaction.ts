import { CommitInDoubtError } from '../../../errors/index.js'
import type { Driver } from '../../../driver/driver.js'
import type { TransactionHandle } from '../../../driver/outcome.js'
import { splitAccess } from '../../../driver/split-access.js'
import type { DeleteCommand, WriteCommand } from '../../../plan/command.js'
import type { ReadyStage } from '../../../plan/draft.js'
import type { Outcome } from '../../../plan/outcome.js'
import type { PlanDraft } from '../../../plan/plan-draft.js'
import { inTransaction } from '../../transaction/retry-transaction.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { ChangeSet, isToSave } from '../collect/change-set.js'
import { collectChanges } from '../collect/collect-changes.js'
import { planChangeSet } from '../plan/plan-change-set.js'
import type { SendParts } from '../session-parts.js'
import { runFollowUps, type RunResult } from './execute-stages.js'

/** Stage that was sent last, with its outcomes. */
interface Sent {
  readonly draft: PlanDraft
  readonly ready: ReadyStage
  outcomes: readonly Outcome[]
}

/** The attempts of one transaction: what only a failed one has reached is not part of the flush. */
class Attempts {
  readonly all: ChangeSet
  /** Members of this transaction. */
  readonly #own: ChangeSet
  readonly #done = new Set<ManagedEntity>()
  #rollback: (() => void) | undefined

  constructor(own: ChangeSet, all: ChangeSet) {
    this.#own = own
    this.all = all
  }

  /** True for entities whose hooks have run, in this attempt or in an earlier one. */
  has(managed: ManagedEntity): boolean {
    return this.#done.has(managed) || this.all.has(managed)
  }

  /** Adds what an attempt has reached to its own work, and to that of the flush. */
  take(reached: ChangeSet, work: ChangeSet): void {
    const { all } = this
    const members = [...reached.saved, ...reached.removed]
    const [known, news] = [
      members.filter((managed) => all.has(managed)),
      members.filter((managed) => !all.has(managed)),
    ]
    // Another transaction of this flush may already have sent what they show.
    const elsewhere = new Set(known.filter((managed) => !this.#own.has(managed)))
    all.onRollback(() => reached.rollback())
    for (const managed of members) {
      this.#done.add(managed)
      work.add(managed)
      all.add(managed)
    }
    this.#rollback = () => {
      reached.rollbackUnless((managed) => elsewhere.has(managed))
      all.drop(news)
    }
  }

  /** Puts back what the last attempt has changed in the session, before the next one looks again. */
  rollback(): void {
    this.#rollback?.()
    this.#rollback = undefined
  }
}

/**
 * Writes entities that belong together in one transaction. They are planned in it, so that what the plan depends on cannot change
 * before the commit; they take over their outcomes only when those are certain.
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
  const attempts = new Attempts(members, all)
  const run = async (transaction: TransactionHandle): Promise<void> => {
    signal?.throwIfAborted()
    attempts.rollback()
    sent = await planInside(members, attempts, parts, transaction)
    if (sent === undefined) return
    sent.outcomes = await driver.run(commandsOf(sent), { transaction })
    const refused = sent.ready.refused(sent.outcomes)
    if (refused.length > 0) throw mostTelling(refused)
  }
  const tryIt = (): Promise<void> =>
    inTransaction(driver, () => ({ run, undone: (isConfirmed) => (isUndone = isConfirmed) }))
  try {
    await tryIt().catch(async (error: unknown) => {
      if (!isUndone || !(await remedied(sent, driver))) throw error
      await tryIt()
    })
  } catch (error) {
    return failure(sent, error, isUndone)
  }
  if (sent === undefined) return { stages: [], outcomes: [], failed: [] }
  const { ready, outcomes } = sent
  const failed = ready.settle(outcomes)
  const judged = new Map(failed.map((outcome) => [outcome.command, outcome]))
  if (sent.draft.hasFollowUps) await runFollowUps(sent.draft, splitAccess(driver), true)
  const told = outcomes.map((outcome) => judged.get(outcome.command) ?? outcome)
  return { stages: [ready.stage], outcomes: told, failed, broken: ready.broken }
}

/** Makes room for what was refused, past the transaction; false where nothing can be done. */
async function remedied(sent: Sent | undefined, driver: Driver): Promise<boolean> {
  const remedies = sent === undefined || sent.outcomes.length === 0 ? [] : sent.ready.remedies(sent.outcomes)
  const access = splitAccess(driver)
  await Promise.all(remedies.map((remedy) => remedy(access)))
  return remedies.length > 0
}

async function planInside(
  members: ChangeSet,
  attempts: Attempts,
  { context, entities, readerIn, around }: SendParts,
  transaction: TransactionHandle,
): Promise<Sent | undefined> {
  const reader = readerIn({ ...context, driver: context.driver, transaction })
  // Lists are read again, now as part of the transaction: members may have joined since.
  const removed = [...members.removed]
  const again = { done: attempts, isWhole: true, around }
  const reached = removed.length === 0 ? undefined : await collectChanges(() => removed, entities, reader, again)
  const work = new ChangeSet([...members.saved].filter(isToSave).concat(removed), around, attempts.all)
  if (reached !== undefined) attempts.take(reached, work)
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
