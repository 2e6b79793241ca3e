import { describeKey } from '../../keys/index.js'
import { COMPANION_SHARDS_BIN, DELETING_BIN, type RelationModel } from '../../model/index.js'
import { read } from '../../plan/command.js'
import { readBin } from '../../plan/operations.js'
import { recordId, showKey } from '../../plan/record-key.js'
import type { Finding } from '../../relations/contract/finding.js'
import type { GrowingMembers } from '../../relations/contract/growing-members.js'
import { MOVING } from '../../relations/growth/placement.js'
import { ABOUT_RECORD, readingOf } from '../../relations/verify/read-ends.js'
import type { VerifyAccess } from '../../relations/verify/verify-access.js'
import type { Companion } from '../load/key-of-found.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { dropCompanion } from './drop-companion.js'
import { verifyTerms, type VerifyOptions } from './verify-options.js'

/**
 * Finds companions of a collection that is sharded on demand which their owner does not use: a process that was killed during a split had sent the
 * command that makes them, and it arrived when the split was over. Such a companion is closed, so that it holds nothing.
 */
export async function* unusedCompanions(
  group: readonly Companion[],
  relation: RelationModel,
  members: GrowingMembers,
  { model }: MappedClass,
  access: VerifyAccess,
  options: VerifyOptions,
): AsyncGenerator<Finding> {
  const { repair, settle } = verifyTerms(options)
  const about = [...ABOUT_RECORD, ...[COMPANION_SHARDS_BIN, members.moveBin].map(readBin)]
  const found = await access.read(group.map(({ key }) => read(model.name, key, 'none', about)))
  const closed = group.flatMap((companion, i) => {
    const { [COMPANION_SHARDS_BIN]: shards, [members.moveBin]: move = null } = found[i]?.bins ?? {}
    return shards === MOVING && move === null ? [{ ...companion, ...readingOf(found[i]) }] : []
  })
  if (closed.length === 0) return
  // Asked after the companions were read: a split that makes them is noted in their owner's record before.
  const bins = [...members.schemeBins, DELETING_BIN]
  const roots = await access.read(closed.map(({ root }) => read(model.name, root, bins)))
  for (const [i, { key, root, age, generation }] of closed.entries()) {
    const record = roots[i]
    // Companions of an owner that is gone are another finding.
    if (record === null || DELETING_BIN in record.bins || age < settle) continue
    members.learn(root, record.bins)
    if (members.homes(root).some((home) => recordId(home) === recordId(key))) continue
    const shown = access.showKey(model, root.key)
    const result = repair ? await dropCompanion(key, generation, model, access) : ({ state: 'found' } as const)
    yield {
      kind: 'unreadCompanion',
      className: model.name,
      property: relation.name,
      key: shown,
      truth: model.name,
      repair: 'remove',
      message: `${showKey(key)} was made for ${relation.name} of ${model.name} ${describeKey(shown)}, which are kept in other records.`,
      ...result,
    }
  }
}
