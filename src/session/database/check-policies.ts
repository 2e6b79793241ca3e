import { POLICY_KINDS, policyNames } from '../../driver/policy-names.js'
import { checkNames, type NamesOf } from '../../model/call-options.js'
import type { OpenOptions } from '../context/open-options.js'

/** The client drops what it does not know without a word: a time-out with a slip of the pen in its name would be no time-out. */
export function checkPolicies(policies: OpenOptions['policies']): void {
  checkNames('policies', policies, namesOf(POLICY_KINDS))
  for (const [kind, policy] of Object.entries<object | null | undefined>({ ...policies })) {
    checkNames(`policies.${kind}`, policy ?? undefined, namesOf(policyNames(kind)))
  }
}

const namesOf = (names: readonly string[]): NamesOf<object> => Object.fromEntries(names.map((name) => [name, true]))
