import type { EntityModel } from '../../model/index.js'
import { read, write, type ReadCommand, type WriteCommand } from '../../plan/command.js'
import { bin, listCount } from '../../plan/expression.js'
import { listAppendUnique, listRemoveValues, readExpression } from '../../plan/operations.js'
import type { Outcome, StoredRecord } from '../../plan/outcome.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Finding } from '../contract/finding.js'
import { describeMember, type ShowKey } from './describe-finding.js'
import { ABOUT_RECORD, readingOf } from './read-ends.js'
import { resultOf } from './repair-links.js'

/** A key that a list of keys holds several times; every write of Skein adds it only once. */
export interface DuplicateMember {
  readonly owner: { readonly model: EntityModel; readonly key: RecordKey }
  /** The record with the list: the owner's, or a companion. */
  readonly home: RecordKey
  readonly property: string
  readonly bin: string
  readonly member: UserKey
}

interface Access {
  read(commands: readonly ReadCommand[]): Promise<(StoredRecord | null)[]>
  write(commands: readonly WriteCommand[]): Promise<Outcome[]>
  readonly showKey: ShowKey
}

/** Looks again at a key that was found several times, and leaves it there once. */
export async function* checkDuplicate(
  { owner, home, property, bin: name, member }: DuplicateMember,
  access: Access,
  { repair, settle }: { readonly repair: boolean; readonly settle: number },
  unsettled: () => void,
): AsyncGenerator<Finding> {
  const count = readExpression('_sk.times', listCount(bin('list', name), member))
  const [record] = await access.read([read(owner.model.name, home, 'none', [...ABOUT_RECORD, count])])
  const { isDeleting, age, generation } = readingOf(record)
  if (record === null || isDeleting || Number(record.bins['_sk.times'] ?? 0) < 2) return
  if (age < settle) return unsettled()
  const found = describeMember('duplicateMember', owner.model, owner.key, home, property, member, access.showKey)
  if (!repair) {
    yield { ...found, state: 'found' }
    return
  }
  const operations = [listRemoveValues(name, [member]), listAppendUnique(name, [member])]
  const command = write(owner.model.name, home, operations, { exists: 'mustExist', ttl: 'keep', generation })
  const [outcome] = await access.write([command])
  yield { ...found, ...resultOf(outcome) }
}
