import { SkeinError } from '../../../errors/index.js'
import type { Outcome } from '../../../plan/outcome.js'
import type { PlanDraft } from '../../../plan/plan-draft.js'
import type { Plan } from '../../../plan/plan.js'
import { recordId } from '../../../plan/record-key.js'
import type { TransactionMode } from '../../context/open-options.js'
import { callOptions } from '../../context/session-context.js'
import type { ChangeSet } from '../collect/change-set.js'
import { beginPlan, planChangeSet, groupsOf, mayNeedTransactions, type Groups } from '../plan/plan-change-set.js'
import type { SendParts } from '../session-parts.js'
import { executeStages, type AfterMark, type RunResult } from './execute-stages.js'
import { executeTransaction } from './execute-transaction.js'

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
  const inTransaction = ({ group, name }: NamedGroup): Promise<RunResult> =>
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
    running.push(stages.then((result) => withDeferred(result, draft, deferred, (id) => inTransaction(later.get(id)!))))
  }
  running.push(...besideEachOther(groups, inTransaction))
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
