import type { RecordKey } from '../../plan/record-key.js'
import type { SessionContext } from '../context/session-context.js'
import type { MappedClass, Projection } from '../mapping/mapped-class.js'
import type { OpenWrites } from '../tracking/entity-home.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { LoadReceiver, LoadRequest } from './load-request.js'

/** Loads an entity once something else has ended. */
type FindLater = (
  mapped: MappedClass,
  key: RecordKey,
  wanted: Projection,
  receiver: LoadReceiver,
  place: number,
) => void

/** Goes on after a write of an entity that was loaded in part, because beside it nobody can tell whether what is read has it; false where none is under way. */
export function afterWrite(known: ManagedEntity, { identity, reading }: SessionContext, then: () => void): boolean {
  const ended = known.loaded === undefined ? undefined : identity.writes?.endOfWrite(known)
  if (ended === undefined) return false
  reading.begin()
  void ended.then(then).finally(() => reading.end())
  return true
}

/** Reads again what may have been read before a write of the session; later writes wait for that. */
export function readAgain(
  request: LoadRequest,
  known: ManagedEntity,
  writes: OpenWrites<ManagedEntity> | undefined,
  find: FindLater,
): void {
  const { mapped, recordKey: key, projection, isOwn } = request
  const again = (): Promise<void> =>
    new Promise((end) => {
      const done = { loaded: () => end(), failed: () => end(), isOwn }
      request.handOver((receiver, place) => find(mapped, key, projection, receiver, place))
      find(mapped, key, projection, done, 0)
    })
  if (isOwn || writes === undefined) void again()
  else void writes.between(known, again)
}
