import { remove } from '../../plan/command.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Finding } from '../../relations/contract/finding.js'
import type { VerifyAccess } from '../../relations/verify/verify-access.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** Deletes a companion as it was read. */
export async function dropCompanion(
  key: RecordKey,
  generation: number,
  { name, durableDelete }: MappedClass['model'],
  access: VerifyAccess,
): Promise<Pick<Finding, 'state' | 'error'>> {
  const [{ state, reason, error }] = await access.write([remove(name, key, { generation, durableDelete })])
  if (state === 'written') return { state: 'repaired' }
  return reason === 'missing' || reason === 'generation' ? { state: 'leftAlone' } : { state: 'failed', error }
}
