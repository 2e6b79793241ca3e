import type { Settle } from '../../plan/draft.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'

/** An add and the removal of the link that it replaces, which settle one change together. */
export interface ReplacedLink {
  readonly added: Settle
  readonly removed: Settle
  /** There is no other link. */
  readonly nothingRemoved: () => void
}

/** Settles a change once both the new link is stored and the one before is gone. */
export function replacedLink(settle: Settle): ReplacedLink {
  let added: Outcome | undefined
  let isRemoved = false
  const settleBoth = (): ReturnType<Settle> => (added === undefined || !isRemoved ? true : settle(added))
  return {
    added: (outcome) => {
      if (outcome.state !== 'written') return settle(outcome)
      added = outcome
      return settleBoth()
    },
    removed: (outcome) => {
      // A refusal here does not say that the owner refuses the new link.
      if (!isWrittenOrMissing(outcome))
        return settle(outcome.reason === 'guard' ? { ...outcome, reason: 'refused' } : outcome)
      isRemoved = true
      return settleBoth()
    },
    nothingRemoved: () => {
      isRemoved = true
      if (added !== undefined) settle(added)
    },
  }
}
