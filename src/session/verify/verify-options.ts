import { shown, SkeinError } from '../../errors/index.js'
import type { VerifyTerms } from '../../relations/verify/verify-access.js'

const DEFAULT_SETTLE = 5

export interface VerifyOptions {
  /** Writes what makes the records agree again. */
  readonly repair?: boolean
  /** Seconds for which a record must not have changed to be judged (5): whoever is changing it now may not be done. 0 judges everything. */
  readonly settle?: number
  readonly signal?: AbortSignal
}

export function verifyTerms({ repair = false, settle = DEFAULT_SETTLE }: VerifyOptions): VerifyTerms {
  if (!Number.isFinite(settle) || settle < 0) {
    throw new SkeinError('SKEIN_2410', `verify cannot leave records alone for ${shown(settle)} seconds.`, {
      fix: 'Give settle as a number of seconds, 0 or more.',
    })
  }
  return { repair, settle: settle * 1000 }
}
