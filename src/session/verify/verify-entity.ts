import type { Finding } from '../../relations/contract/finding.js'
import { Verifier } from '../../relations/verify/verifier.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import { callOptions, type SessionContext } from '../context/session-context.js'
import { verifyLayout } from './layout-verifier.js'
import { subjectOf, verifyAccess } from './verify-access.js'
import { verifyTerms, type VerifyOptions } from './verify-options.js'

/** Checks the links of one record, and the orders of its lists and maps. */
export async function verifyEntity(
  { mapped, key }: ManagedEntity,
  context: SessionContext,
  options: VerifyOptions,
): Promise<Finding[]> {
  const { driver, classes, identity } = context
  const access = verifyAccess(driver, classes, identity.tenant, callOptions(context, options.signal))
  const findings: Finding[] = []
  for await (const finding of new Verifier(access, verifyTerms(options)).check([subjectOf(mapped, key)])) {
    findings.push(finding)
  }
  const { signal, repair = false } = options
  for await (const finding of verifyLayout(mapped, key, classes, driver, repair, identity.tenant, signal)) {
    findings.push(finding)
  }
  return findings
}
