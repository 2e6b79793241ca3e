import type { Draft, DraftOptions } from '../../../plan/draft.js'
import { PlanDraft, together } from '../../../plan/plan-draft.js'
import type { Reader } from '../../../relations/contract/reader.js'
import type { Contributor } from '../../../relations/contract/contributor.js'
import { isWrittenOrMissing } from '../../../plan/outcome.js'
import { markDeleting } from '../../../relations/write/delete-marker.js'
import { isSoftDelete } from '../../tracking/soft-deleted.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { isToSave, type ChangeSet } from '../collect/change-set.js'
import { SkeinError } from '../../../errors/index.js'
import { MOST_WRITES, type Capabilities } from '../../../driver/capabilities.js'
import { namespaceOf, recordId } from '../../../plan/record-key.js'
import type { TransactionMode } from '../../context/open-options.js'
import { withoutTransactions } from '../../transaction/transaction-errors.js'

/** A plan that is being made: it is whole once `reading` is done, and at once where nothing has to be read. */
interface Planning {
  readonly draft: PlanDraft
  readonly reading: Promise<void> | undefined
}

/** Asks everything that takes part for its commands, all in one tick: what has to be read for them is one batch read. */
export function beginPlan(work: ChangeSet, reader: Reader, now: Date, options?: DraftOptions): Planning {
  const draft = new PlanDraft(now, { ...options, deletes: work.deletes, complete: reader.complete })
  return { draft, reading: planInto(draft, work, reader) }
}

export async function planChangeSet(...args: Parameters<typeof beginPlan>): Promise<PlanDraft> {
  const { draft, reading } = beginPlan(...args)
  await reading
  return draft
}

/** Adds to a plan that may have begun to run. */
export function planInto(draft: PlanDraft, work: ChangeSet, reader: Reader): Promise<void> | undefined {
  const planned: (void | Promise<void>)[] = []
  for (const managed of work.saved) {
    if (!isToSave(managed)) continue
    const own = draftFor(managed, draft)
    // Planned again as part of a transaction: the plan before it is not sent.
    dropPlan(managed)
    for (const contributor of managed.mapped.contributors) planned.push(contributor.save(managed, own, reader))
  }
  for (const managed of work.removed) {
    const own = draftFor(managed, draft, work.depthOf(managed))
    if (!draft.isTransaction && mayStay(managed, work)) own.add('mark', markDeleting(managed), isWrittenOrMissing)
    for (const contributor of contributorsOfRemoval(managed)) planned.push(contributor.remove(managed, own, reader))
  }
  for (const [managed, origins] of work.cascadedFrom) for (const from of origins) draft.tie(managed.key, from.key)
  return together(planned)
}

/** True for a child that may be somebody else's by now, and would take others along: they go only once it is marked. */
const mayStay = (managed: ManagedEntity, work: ChangeSet): boolean =>
  managed.deleteIntent?.orphanGuard !== undefined && !isSoftDelete(managed) && work.takesAlong(managed)

/** Forgets what was planned for an entity and not sent, or not answered. */
export function dropPlan(managed: ManagedEntity): void {
  for (const contributor of managed.mapped.contributors) contributor.dropPlan?.(managed)
}

/** Adds what detaches members whose other changes are in the plan, or sent. */
export function planDetached(draft: PlanDraft, work: ChangeSet, reader: Reader): Promise<void> | undefined {
  const planned: (void | Promise<void>)[] = []
  for (const [managed, relations] of work.detached) {
    if (!work.isSaving(managed)) continue
    const own = draftFor(managed, draft)
    for (const contributor of managed.mapped.contributors)
      if (contributor.relation !== undefined && relations.has(contributor.relation))
        planned.push(contributor.save(managed, own, reader))
  }
  return together(planned)
}

/** A soft delete leaves all links as they are, so that a restore finds them. */
const contributorsOfRemoval = (managed: ManagedEntity): readonly Contributor[] =>
  isSoftDelete(managed) ? managed.mapped.contributors.slice(0, 1) : managed.mapped.contributors

/** Ties commands to the record, unless no relation leads to it or away. */
function draftFor(managed: ManagedEntity, draft: PlanDraft, depth = 0): Draft {
  const { mapped, key, state, overwrite, isUnread } = managed
  if (mapped.standsAlone) return draft
  const own = isUnread ? mapped.classGuards : mapped.ownGuards
  return draft.for(key, depth, state === 'stored' && !overwrite ? own : [])
}

/** Ways in which the records of a flush are sent. */
export interface Groups {
  /** Each record by itself: nothing ties it to another. */
  readonly plain: readonly string[]
  /** Records that change together, each group in a transaction of its own. */
  readonly transactions: readonly (readonly string[])[]
  /** Records that belong together and that no transaction can carry: stage by stage. */
  readonly staged: readonly string[]
  /** Staged records that are alone, as far as this process knows; a transaction could carry them together with others. */
  readonly alone: readonly string[]
}

/** True when transactions may carry a part of the work; where none can, nothing has to be found out. */
export function mayNeedTransactions(work: ChangeSet, mode: TransactionMode, { namespaces }: Capabilities): boolean {
  if (mode === 'off') return false
  for (const members of [work.saved, work.removed]) {
    for (const { mapped } of members) {
      if (mapped.standsAlone) continue
      if (mode === 'required' || namespaces[mapped.model.namespace]?.transactions) return true
    }
  }
  return false
}

/** Sorts the records of a draft; refuses what must be in a transaction and cannot be. */
export function groupsOf(
  survey: PlanDraft,
  work: ChangeSet,
  mode: TransactionMode,
  capabilities: Capabilities,
): Groups {
  const idsOf = (isSuch: (managed: ManagedEntity) => boolean): ReadonlySet<string> =>
    new Set([...work.removed].filter(isSuch).map(({ key }) => recordId(key)))
  const [linkable, waiting] = [idsOf(isLinkable), idsOf(isWaiting)]
  const plain: string[] = []
  const transactions: string[][] = []
  const staged: string[] = []
  const alone: string[] = []
  for (const group of survey.groups()) {
    const problem = whyNot(group, capabilities)
    // A record that is deleted and has no links now may get one before it is gone, so that is watched, too.
    const isAlone = group.length === 1 && (problem !== undefined || !linkable.has(group[0]))
    // Parts of it must not decide about each other, and one record needs no transaction.
    if (isAlone && (survey.isConditional(group[0]) || waiting.has(group[0]))) {
      staged.push(group[0])
      if (problem === undefined) alone.push(group[0])
    } else if (isAlone) plain.push(group[0])
    else if (problem === undefined) transactions.push(group)
    else if (mode === 'required') throw problem
    else staged.push(...group)
  }
  return { plain, transactions, staged, alone }
}

const isLinkable = (managed: ManagedEntity): boolean => managed.mapped.relations.length > 0 || isWaiting(managed)

/** True for one that may stay after all: others go with it only once it is marked, or within a transaction. */
export const isWaiting = (managed: ManagedEntity): boolean =>
  managed.mapped.contributors.some((contributor) => contributor.isWaiting?.(managed) === true)

/** Reason why no transaction can carry these records. */
function whyNot(group: readonly string[], { namespaces }: Capabilities): SkeinError | undefined {
  const used = [...new Set(group.map(namespaceOf))]
  const lacking = used.find((namespace) => namespaces[namespace]?.transactions !== true)
  if (lacking !== undefined) return withoutTransactions(lacking)
  if (used.length > 1) {
    return new SkeinError('SKEIN_4303', `Records of the namespaces ${used.join(' and ')} would change together.`, {
      fix: "Keep them in one namespace, or flush with transactions: 'auto', which then works in stages.",
    })
  }
  if (group.length <= MOST_WRITES) return undefined
  return new SkeinError(
    'SKEIN_4302',
    `${group.length} records would change together, but a transaction can write ${MOST_WRITES}.`,
    { fix: "Flush in smaller steps, or with transactions: 'auto', which then works in stages." },
  )
}
