import type { Driver } from '../../../driver/driver.js'
import { splitAccess } from '../../../driver/split-access.js'
import type { PlanDraft } from '../../../plan/plan-draft.js'

/** Runs what is to happen between stages. Before a transaction is committed nothing does: it would not see what that has written. */
export async function runErrands(draft: PlanDraft, driver: Driver, isCommitted = !draft.isTransaction): Promise<void> {
  for (;;) {
    const errands = draft.takeErrands()
    if (errands.length === 0 || !isCommitted) return
    const access = splitAccess(driver)
    await Promise.all(errands.map((errand) => errand(access)))
  }
}
