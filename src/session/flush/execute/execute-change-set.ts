import { SkeinError } from '../../../errors/index.js'
import type { Driver } from '../../../driver/driver.js'
import type { TransactionHandle } from '../../../driver/outcome.js'
import { splitAccess } from '../../../driver/split-access.js'
import type { DeleteCommand, WriteCommand } from '../../../plan/command.js'
import type { ReadyStage } from '../../../plan/draft.js'
import type { Outcome } from '../../../plan/outcome.js'
import type { PlanDraft } from '../../../plan/plan-draft.js'
import type { Plan } from '../../../plan/plan.js'
import { recordId } from '../../../plan/record-key.js'
import type { TransactionMode } from '../../context/open-options.js'
import { callOptions } from '../../context/session-context.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { inTransaction } from '../../transaction/retry-transaction.js'
import { ChangeSet, isToSave } from '../collect/change-set.js'
import { collectChanges } from '../collect/collect-changes.js'
import { beginPlan, planChangeSet, groupsOf, mayNeedTransactions, type Groups } from '../plan/plan-change-set.js'
import type { SendParts } from '../session-parts.js'
import { executeStages, runFollowUps, type AfterMark, type RunResult } from './execute-stages.js'
import { mostTelling, transactionFailure } from './transaction-failure.js'

/** Transactions of one flush that are under way at a time. */
const AT_ONCE = 8

/** Sends the work: in the session's transaction, in transactions of its own, or in plain stages. */
export async function executeChangeSet(
  work: ChangeSet,
  parts: SendParts,
  mode: TransactionMode,
  now: Date,
  signal?: AbortSignal,
  marked?: AfterMark,
): Promise<RunResult> {
  const { context, reader } = parts
  const isInside = context.transaction !== undefined
  if (isInside || !mayNeedTransactions(work, mode, context.driver.capabilities)) {
    const { draft, reading } = beginPlan(work, reader, now, { isTransaction: isInside, isInside })
    // Awaits only where something has to be read: what is called now is sent as it is now.
    if (reading !== undefined) await reading
    return executeStages(draft, context.driver, callOptions(context, signal), marked, mode)
  }
  const survey = await planChangeSet(work, reader, now, { isTransaction: true })
  const groups = groupsOf(survey, work, mode, context.driver.capabilities)
  survey.begin()
  if (survey.isEmpty) return { stages: [], outcomes: [], failed: [] }
  return sendGroups(work, survey, groups, parts, signal, marked)
}

async function sendGroups(
  work: ChangeSet,
  survey: PlanDraft,
  { plain, transactions, staged, alone }: Groups,
  parts: SendParts,
  signal: AbortSignal | undefined,
  marked: AfterMark | undefined,
): Promise<RunResult> {
  const { context, reader } = parts
  const running: Promise<RunResult>[] = []
  // Named before anything is sent: what follows a stage may tie groups to each other.
  const named = (group: readonly string[]): NamedGroup => ({ group, name: survey.groupOf(group[0]) })
  const members = work.split(({ key }) => survey.groupOf(recordId(key)))
  const send = ({ group, name }: NamedGroup): Promise<RunResult> =>
    executeTransaction(members(name), work, parts, signal).catch((error: unknown) => unsent(survey, group, error))
  const groups = transactions.map(named)
  const later = new Map(alone.map((id) => [id, named([id])]))
  const deferred = new Set<string>()
  const defer = (id: string): boolean => later.has(id) && deferred.add(id).has(id)
  // Planned before anything is sent: a plan that cannot be made has begun nothing.
  const draft =
    staged.length === 0
      ? undefined
      : await planChangeSet(membersOf(work, survey, staged), reader, survey.now, { defer })
  if (plain.length > 0)
    running.push(executeStages(survey.part(plain, {}), context.driver, callOptions(context, signal)))
  if (draft !== undefined) {
    const stages = executeStages(draft, context.driver, callOptions(context, signal), marked)
    running.push(stages.then((result) => withDeferred(result, draft, deferred, (id) => send(later.get(id)!))))
  }
  running.push(...besideEachOther(groups, send))
  const ended = await Promise.allSettled(running)
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  return together(ended.map((one) => (one as PromiseFulfilledResult<RunResult>).value))
}

/** Records that change together, and the name of their group. */
interface NamedGroup {
  readonly group: readonly string[]
  readonly name: string
}

/** Sends what stages have left to transactions, but for records that have failed. */
async function withDeferred(
  result: RunResult,
  draft: PlanDraft,
  deferred: ReadonlySet<string>,
  send: (id: string) => Promise<RunResult>,
): Promise<RunResult> {
  if (deferred.size === 0 || result.error !== undefined) return result
  const isStopped = draft.tiedTo(result.failed.map(({ command }) => recordId(command.key)))
  const ids = [...deferred].filter((id) => !isStopped(id))
  const results = [result, ...(await Promise.all(besideEachOther(ids, send)))]
  return together(results.filter(({ outcomes, broken = [] }) => outcomes.length + broken.length > 0))
}

/** Runs work on all items, a bounded number at a time. */
function besideEachOther<T>(items: readonly T[], work: (item: T) => Promise<RunResult>): Promise<RunResult>[] {
  const left = items[Symbol.iterator]()
  const runner = async (): Promise<RunResult> => {
    const results: RunResult[] = []
    for (const item of left) results.push(await work(item))
    return together(results)
  }
  return items.slice(0, AT_ONCE).map(runner)
}

/** Outcomes of a group whose transaction could not be planned: others may be committed all the same. */
function unsent(survey: PlanDraft, group: readonly string[], error: unknown): RunResult {
  const { stages } = survey.part(group, { isTransaction: true }).plan()
  const about = error instanceof SkeinError ? { error } : {}
  const outcomes = stages
    .flatMap(({ commands }) => commands as readonly Outcome['command'][])
    .map((command): Outcome => ({ command, state: 'notWritten', bins: {}, reason: 'notSent', ...about }))
  return { stages: [], outcomes, failed: outcomes, error }
}

/** Plans of a flush, without sending it. */
export async function planFlush(work: ChangeSet, parts: SendParts, mode: TransactionMode): Promise<Plan[]> {
  const { context, reader } = parts
  const isInside = context.transaction !== undefined
  if (isInside || !mayNeedTransactions(work, mode, context.driver.capabilities)) {
    return [(await planChangeSet(work, reader, new Date(), { isTransaction: isInside })).plan()]
  }
  const survey = await planChangeSet(work, reader, new Date(), { isTransaction: true })
  const { plain, transactions, staged } = groupsOf(survey, work, mode, context.driver.capabilities)
  const plans = transactions.map((group) => survey.part(group, { isTransaction: true }).plan())
  if (plain.length > 0) plans.unshift(survey.part(plain, {}).plan())
  if (staged.length > 0) plans.push((await planChangeSet(membersOf(work, survey, staged), reader, survey.now)).plan())
  return plans
}

/** Members whose records these are, and members that only add to their commands. */
function membersOf(work: ChangeSet, survey: PlanDraft, ids: readonly string[]): ChangeSet {
  const belongs = survey.belongsTo(ids)
  return work.filter(({ key }) => belongs(recordId(key)))
}

function together(results: readonly RunResult[]): RunResult {
  if (results.length === 1) return results[0]
  const failure = results.find(({ error }) => error !== undefined)
  return {
    stages: results.flatMap(({ stages }) => stages),
    outcomes: results.flatMap(({ outcomes }) => outcomes),
    failed: results.flatMap(({ failed }) => failed),
    broken: results.flatMap(({ broken }) => broken ?? []),
    // Alone it is the whole story; beside others it is one of several.
    ...(failure === undefined ? {} : { error: failure.error, isPart: results.some((one) => one !== failure) }),
  }
}

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
async function executeTransaction(
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
    if (sent === undefined) throw error
    return transactionFailure(sent.ready, sent.outcomes, error, isUndone)
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
