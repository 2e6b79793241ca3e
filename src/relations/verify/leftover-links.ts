import type { EntityModel, RelationModel } from '../../model/index.js'
import { binEquals, write } from '../../plan/command.js'
import { and, binExists, eq, not, sinceUpdate, value } from '../../plan/expression.js'
import { readBin, removeBin } from '../../plan/operations.js'
import { recordKey, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { LinkEnd, LinkVerification } from '../contract/link-verification.js'
import { modelAt, storedRef } from '../contract/member.js'
import { createdForBin } from '../write/record-store.js'
import { binEnd } from './link-ends.js'

/** Checks members that were created for an owner; undefined where they may be there alone. */
export function createdForLinks(
  relation: RelationModel,
  owner: EntityModel,
  targets: EntityModel,
  { ownBin, held }: Linked,
): LinkVerification | undefined {
  if (relation.onDelete === 'detach') return undefined
  const bin = createdForBin(owner, relation)
  return {
    side: 'owner',
    readKeys: () => readBin(bin),
    link: (here, other) => {
      const target = modelAt(targets, here)
      const noted = binEnd(target, { name: bin, bin }, here, other).holds!
      const far = recordKey(owner.namespace, owner.set, other)
      return {
        owner: {
          model: target,
          key: here,
          // A member whose own bin names an owner has been linked since.
          holds: ownBin === undefined ? noted : and(noted, not(binExists(ownBin))),
          remove: () =>
            write(target.name, here, [removeBin(bin)], {
              exists: 'mustExist',
              ttl: 'keep',
              guards: [binEquals(bin, other)],
            }),
        },
        mirror: { model: owner, key: far, ...pick(held?.(far, storedRef(targets, here))), property: relation.name },
        unmirrored: 'unfinishedCreate',
        isNote: true,
      }
    },
  }
}

/** The record that would hold the link, and whether it does. */
const pick = (end: LinkEnd | undefined): Partial<LinkEnd> =>
  end === undefined ? {} : { key: end.key, holds: end.holds, ...(end.apart && { apart: end.apart }) }

/** Place where the link would be: in a bin of the member, or at the owner's end. */
interface Linked {
  readonly ownBin?: string
  readonly held?: (owner: RecordKey, member: UserKey) => LinkEnd
}

/** The end of an owner that has all members under its own key. */
export const sameKeyEnd = (model: EntityModel, key: RecordKey): LinkEnd => ({
  model,
  key,
  // True of every record that is there.
  holds: not(eq(sinceUpdate(), value(-1))),
})
