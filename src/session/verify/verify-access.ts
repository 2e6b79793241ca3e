import type { Driver } from '../../driver/driver.js'
import { splitAccess } from '../../driver/split-access.js'
import type { CallOptions } from '../../driver/outcome.js'
import type { Tenant } from '../../keys/index.js'
import type { LinkVerification } from '../../relations/contract/link-verification.js'
import type { Subject, VerifyAccess } from '../../relations/verify/verify-access.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'

/** Deletes a record whose delete has begun; true when there was something left to do. */
export type FinishDelete = (className: string, key: RecordKey) => Promise<boolean>

/** Gives verifying access to the server: past the identity map, because what is stored is what is checked. */
export function verifyAccess(
  driver: Driver,
  classes: MappedClasses,
  tenant: Tenant | undefined,
  { transaction, signal }: CallOptions,
  finishDelete: FinishDelete = () => Promise.resolve(false),
): VerifyAccess {
  const complete = classes.counts?.complete
  // Between two rounds is often enough to stop, and does not make each of many reads listen to the signal.
  const send = async <C, R>(commands: readonly C[], to: (commands: readonly C[]) => Promise<R[]>): Promise<R[]> => {
    signal?.throwIfAborted()
    return commands.length === 0 ? [] : to(commands)
  }
  const showKey: VerifyAccess['showKey'] = (model, stored) => {
    try {
      return classes.of(model.name).codec.key.scheme.fromStored(stored, tenant)
    } catch {
      // A stored value that is not a key of the class is shown as it is.
      return stored
    }
  }
  return {
    read: (commands) => send(commands, (all) => driver.read(all, { transaction })),
    write: (commands) =>
      send(commands, (all) => driver.run(complete === undefined ? all : all.map(complete), { transaction })),
    // Reads of a transaction conflict with what another one holds by themselves.
    areHeld: (records) =>
      transaction === undefined ? driver.areHeld(records) : Promise.resolve(records.map(() => false)),
    split: splitAccess(driver),
    showKey,
    recordKeyOf(className, key) {
      try {
        return classes.of(className).recordKeyOf(key, tenant)
      } catch {
        return undefined
      }
    },
    finishDelete: (model, key) =>
      finishDelete(model.name, key).then(
        (isDone) => ({ state: isDone ? 'repaired' : 'leftAlone' }),
        (error: Error) => ({ state: 'failed', error }),
      ),
  }
}

export function subjectOf({ model, relations, leftovers }: MappedClass, key: RecordKey): Subject {
  const verifications = relations.flatMap(({ verification, ended }): LinkVerification[] => [
    ...(verification === undefined ? [] : [verification]),
    ...(ended === undefined ? [] : [ended.verification]),
  ])
  const inside = relations.flatMap((strategy) => strategy.inside ?? [])
  return { model, key, relations: [...verifications, ...leftovers], inside }
}
