import type { Driver } from '../../driver/driver.js'
import { describeKey, type Tenant } from '../../keys/index.js'
import { MOVED_BIN } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { FoundRecord } from '../../plan/outcome.js'
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
    found.map(({ record }) => read(className, { ...record, namespace: archive }, [MOVED_BIN])),
    { signal },
  )
  for (const [i, { key }] of found.entries())
    if (copies[i] !== null)
      yield {
        kind: 'unfinishedArchive',
        className,
        key,
        truth: className,
        repair: 'none',
        state: 'found',
        message: `${className} ${describeKey(key)} is also in the namespace '${archive}': a move was cut off, and archiving it again completes it.`,
      }
}
