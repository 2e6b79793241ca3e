import type { Driver } from '../../driver/driver.js'
import { describeKey, type KeyValue, type Tenant } from '../../keys/index.js'
import { ARCHIVING_BIN, MOVED_BIN, type EntityModel } from '../../model/index.js'
import { read, type ReadCommand } from '../../plan/command.js'
import type { FoundRecord, StoredRecord } from '../../plan/outcome.js'
import { showKey, type RecordKey } from '../../plan/record-key.js'
import type { Finding } from '../../relations/contract/finding.js'
import { foundKey } from '../load/key-of-found.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** Reports records that are both in the archive and outside of it: a move was cut off before its last step. */
export async function* verifyMoved(
  mapped: MappedClass,
  records: readonly FoundRecord[],
  driver: Driver,
  tenant: Tenant | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Finding> {
  const { name: className, archive } = mapped.model
  if (archive === undefined) return
  const found = records.flatMap((record) => foundKey(mapped, record, tenant) ?? [])
  const copies = await driver.read(
    found.flatMap(({ record }) => [
      read(className, { ...record, namespace: archive }, [MOVED_BIN]),
      read(className, record, [ARCHIVING_BIN]),
    ]),
    { signal },
  )
  for (const [i, { key }] of found.entries()) {
    const isClosed = copies[2 * i + 1]?.bins[ARCHIVING_BIN] != null
    if (copies[2 * i] !== null || isClosed)
      yield {
        kind: 'unfinishedArchive',
        className,
        key,
        truth: className,
        repair: 'none',
        state: 'found',
        message:
          copies[2 * i] === null
            ? `${className} ${describeKey(key)} takes no members: a move to the namespace '${archive}' was cut off, and archiving it again completes it, or unarchiving it calls it off.`
            : `${className} ${describeKey(key)} is also in the namespace '${archive}': a move was cut off, and archiving it again completes it.`,
      }
  }
}

/** A companion without a record, whose record is on the other side: a move was cut off before its last step, and its repetition sees to it. */
export const leftByMove = (
  { name: className, archive }: EntityModel,
  property: string,
  key: KeyValue,
  companion: RecordKey,
): Finding => ({
  kind: 'unfinishedArchive',
  className,
  property,
  key,
  truth: className,
  repair: 'none',
  state: 'found',
  message: `${showKey(companion)} holds ${property} of ${className} ${describeKey(key)}, which is in the namespace '${archive}': a move was cut off, and archiving or unarchiving again completes it.`,
})

/** Which of these records have a copy on the other side of the archive. */
export async function areArchived(
  { name, archive }: EntityModel,
  records: readonly RecordKey[],
  readAll: (commands: readonly ReadCommand[]) => Promise<readonly (StoredRecord | null)[]>,
): Promise<readonly boolean[]> {
  if (archive === undefined) return records.map(() => false)
  const found = await readAll(records.map((each) => read(name, { ...each, namespace: archive }, [MOVED_BIN])))
  return found.map((each) => each !== null)
}
