import {
  CommitInDoubtError,
  EntityGoneError,
  InDoubtError,
  PartialFailureError,
  SkeinError,
  type ErrorCode,
  VersionConflictError,
} from '../../errors/index.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import { isWritten } from '../flush/written-entities.js'

/**
 * Meaning of a failure for the record that was to be written. `incomplete`: it is written, and a hook after it or a record that changes
 * with it has failed. `partlyWritten`: only some of its commands are, as where a cascading delete has begun. `gone`: it was deleted meanwhile. `conflict`: not written, because another writer has changed it.
 */
export type BulkFate = 'notWritten' | 'conflict' | 'inDoubt' | 'incomplete' | 'partlyWritten' | 'gone'

export function fateOf(entity: object, key: RecordKey, error: unknown): BulkFate {
  if (isWritten(entity)) return 'incomplete'
  if (error instanceof EntityGoneError) return isAbout(error.details, key) ? 'gone' : 'notWritten'
  if (error instanceof VersionConflictError) return isAbout(error.details, key) ? 'conflict' : 'notWritten'
  if (error instanceof CommitInDoubtError) return 'inDoubt'
  if (error instanceof PartialFailureError) {
    const own = error.records.find((each) => isAbout(each, key))?.outcome ?? 'notWritten'
    return own === 'written' ? 'incomplete' : own
  }
  return error instanceof InDoubtError && isAbout(error.details, key) ? 'inDoubt' : 'notWritten'
}

/** No answer, too busy, no connection, no node for a partition: the next record would fail like this one. */
const OF_SERVER = new Set<ErrorCode>([
  'SKEIN_4003',
  'SKEIN_4201',
  'SKEIN_4202',
  'SKEIN_4205',
  'SKEIN_4206',
  'SKEIN_4212',
  'SKEIN_4213',
])

/** True for a failure that the server is the reason for, and not the record. */
export function isOfServer(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if (each instanceof SkeinError && OF_SERVER.has(each.code)) return true
  return false
}

/** False for other records, of which a hook may have thrown the same error. */
function isAbout({ namespace, set, key }: Partial<RecordKey>, own: RecordKey): boolean {
  if (key === undefined) return false
  const id = recordId({ ...own, namespace: namespace ?? own.namespace, set: set ?? own.set, key })
  return id === recordId(own)
}
