import { plan, stage, type Plan } from '../../../plan/plan.js'
import { showKey } from '../../../plan/record-key.js'
import { MOST_REACHED, type Drain, type Fate } from '../../../relations/contract/drain.js'
import { markDeleting } from '../../../relations/write/delete-marker.js'

/** Describes the drain of members that one plan cannot hold: they are read when it is sent. */
export function explainDrain(drain: Drain): Plan {
  const { owner, className, property, target, fate } = drain
  const name = `${owner.model.name} ${showKey(owner.key, true)}`
  const step = Math.ceil(MOST_REACHED / 2)
  const listed = drain.trim === undefined ? '' : ', and take them off the list'
  const afterRead = `read ${className}.${property} of ${name}, ${step} at a time, until none is left: ${FATES[fate.kind](target.name)}${listed}`
  return plan([stage('drain', [markDeleting(owner)], afterRead)])
}

const FATES: Record<Fate['kind'], (member: string) => string> = {
  delete: (member) => `delete each ${member}, and what it cascades to`,
  release: (member) => `detach each ${member} by one write`,
  change: (member) => `remove the references from each ${member}`,
}
