import { PartialFailureError, VersionConflictError } from '../../errors/index.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { SessionContext } from '../context/session-context.js'
import { newParts, type SessionParts } from '../flush/session-parts.js'
import { UnitOfWork } from '../flush/unit-of-work.js'
import type { FlushOptions } from '../context/option-types.js'

/**
 * Deletes a record whose delete was cut off, and does so only while it is marked: somebody else may finish it at any time, and then the next
 * record under the key is another one. False when there was nothing left to finish.
 */
export async function finishDelete(
  mapped: MappedClass,
  key: RecordKey,
  context: SessionContext,
  options: FlushOptions = {},
): Promise<boolean> {
  const parts = newParts(context)
  try {
    return await deleteMarked(mapped, key, parts, options)
  } catch (error) {
    const isOvertaken = isConflict(error) && (await parts.loads.cutOff(mapped, [key]))[0] === undefined
    if (isOvertaken) return false
    throw error
  } finally {
    context.identity.close()
  }
}

async function deleteMarked(
  mapped: MappedClass,
  key: RecordKey,
  parts: SessionParts,
  options: FlushOptions,
): Promise<boolean> {
  const [managed] = await parts.loads.cutOff(mapped, [key], options.signal)
  if (managed === undefined) return false
  const pending = parts.entities.removeNow(managed.entity, { ignoresVersion: true, resumes: true })
  await new UnitOfWork(parts).one(managed, options)
  return pending.takeWasStored()
}

function isConflict(error: unknown): boolean {
  const cause = error instanceof PartialFailureError ? error.cause : error
  return cause instanceof VersionConflictError
}
