import { SkeinError } from '../../../errors/index.js'
import { MOST_WRITES, type Capabilities } from '../../../driver/capabilities.js'
import type { PlanDraft } from '../../../plan/plan-draft.js'
import { namespaceOf, recordId } from '../../../plan/record-key.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import type { TransactionMode } from '../../context/open-options.js'
import { withoutTransactions } from '../../transaction/transaction-errors.js'
import type { ChangeSet } from '../collect/change-set.js'

/** How the records of a flush are sent. */
export interface Groups {
  /** Each record by itself: nothing ties it to another. */
  readonly plain: readonly string[]
  /** Records that change together, each group in a transaction of its own. */
  readonly transactions: readonly (readonly string[])[]
  /** Records that belong together and that no transaction can carry: stage by stage. */
  readonly staged: readonly string[]
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
  const linkable = new Set([...work.removed].filter(isLinkable).map(({ key }) => recordId(key)))
  const plain: string[] = []
  const transactions: string[][] = []
  const staged: string[] = []
  for (const group of survey.groups()) {
    const problem = whyNot(group, capabilities)
    // A record that is deleted and has no links now may get one before it is gone, so that is watched, too.
    const isAlone = group.length === 1 && (problem !== undefined || !linkable.has(group[0]))
    // Its parts must not decide about each other, and one record needs no transaction.
    if (isAlone && survey.isConditional(group[0])) staged.push(group[0])
    else if (isAlone) plain.push(group[0])
    else if (problem === undefined) transactions.push(group)
    else if (mode === 'required') throw problem
    else staged.push(...group)
  }
  return { plain, transactions, staged }
}

const isLinkable = ({ mapped }: ManagedEntity): boolean => mapped.relations.length > 0

/** Why no transaction can carry these records. */
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
