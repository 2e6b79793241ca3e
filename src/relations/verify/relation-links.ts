import type { PartCodec } from '../../codec/index.js'
import type { SkeinError } from '../../errors/index.js'
import type { EntityModel, OnDelete, RelationModel } from '../../model/index.js'
import { ask } from '../../plan/collection-expression.js'
import { bin, listFrom, mapKeySlice, mapKeysFrom } from '../../plan/expression.js'
import type { ReadOperation } from '../../plan/operation.js'
import { readBin, readExpression } from '../../plan/operations.js'
import { recordKey, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { expressionType } from '../write/expression-type.js'
import { isKeyOf, unreadableRef } from '../contract/stored-keys.js'
import { binEnd, listEnd, mapEnd } from './link-ends.js'
import { modelAt, recordOfRef, storedRef } from '../contract/member.js'
import type { MemberStore, OwnerLists } from '../contract/member-store.js'
import type { LinkEnd, LinkVerification } from '../contract/link-verification.js'

/** The other's key in a bin, which is the truth; the other may list it. */
export function keyBinLinks(
  relation: RelationModel,
  owner: EntityModel,
  target: EntityModel,
  listed: { readonly lists: OwnerLists; readonly property: string; readonly onDelete: OnDelete } | undefined,
  isLink: boolean,
): LinkVerification {
  const apart = isLink ? APART : apartUnless(listed?.onDelete)
  return {
    ...oneKey(relation, owner, target),
    side: 'owner',
    link: (here, other) => ({
      owner: { ...binEnd(owner, relation, here, other), ...(isLink && { isLink }), ...apart },
      mirror:
        listed === undefined
          ? bareEnd(target, other)
          : { ...listedEnd(listed.lists, listed.property, recordOfRef(target, other), here.key), ...apart },
      unmirrored: 'missingLink',
    }),
  }
}

/** Keys in bins of both, of which one is the truth. */
export function keyPairLinks(
  relation: RelationModel,
  owner: EntityModel,
  target: EntityModel,
  inverse: RelationModel,
): LinkVerification {
  const stored = oneKey(relation, owner, target)
  const pair = pairOfEnds(relation, stored.readKeys, (here, other) => {
    const held = bin(expressionType(owner.key.storedKind), inverse.bin!)
    const rival = (key: UserKey): LinkEnd => binEnd(owner, relation, keyIn(owner, key), other)
    const far = binEnd(target, inverse, keyIn(target, other), here.key)
    return [binEnd(owner, relation, here, other), { ...far, only: { held, rival } }]
  })
  return { ...pair, ...stored }
}

function oneKey(
  relation: RelationModel,
  owner: EntityModel,
  target: EntityModel,
): Pick<LinkVerification, 'readKeys' | 'single'> {
  const property = relation.name
  const problem = (key: RecordKey, stored: unknown): SkeinError | undefined =>
    isKeyOf(target, stored) ? undefined : unreadableRef({ model: owner, key, property }, target.name, stored)
  return { readKeys: () => readBin(relation.bin!), single: { property, problem } }
}

/** A list of children: their own bins are the truth, where they have one. */
export function keyListLinks(
  relation: RelationModel,
  store: MemberStore,
  target: EntityModel,
  inverse: RelationModel | undefined,
): LinkVerification {
  if (inverse === undefined) return oneSidedList(relation, store, target)
  const apart = relation.through !== undefined ? APART : apartUnless(relation.onDelete)
  return {
    side: 'mirror',
    readKeys: listKeys(relation),
    ...storedIn(relation, store),
    link: (here, other) => ({
      owner: { ...binEnd(target, inverse, keyIn(target, other), storedRef(inverse, here)), ...apart },
      mirror: { ...listEnd(store, relation.name, here, other), ...apart },
      unmirrored: 'missingLink',
    }),
  }
}

/** A many-to-many relation, and where both of its sides keep their links. */
interface LinkSides {
  readonly model: RelationModel
  readonly store: MemberStore
  readonly target: EntityModel
  readonly inverse: RelationModel | undefined
  readonly otherLists: OwnerLists | undefined
}

/** Lists on both sides, of which one is the truth. */
export function linkListLinks({ model, store, target, inverse, otherLists }: LinkSides): LinkVerification {
  if (inverse === undefined || otherLists === undefined) return oneSidedList(model, store, target)
  const pair = pairOfEnds(model, listKeys(model), (here, other) => [
    { ...listEnd(store, model.name, here, other), ...APART },
    { ...listedEnd(otherLists, inverse.name, recordOfRef(target, other), storedRef(inverse, here)), ...APART },
  ])
  return { ...pair, ...storedIn(model, store) }
}

/** Maps with the attributes of each link on both sides, of which one is the truth. */
export function linkMapLinks(
  { model, store, target, inverse, otherLists }: LinkSides,
  attributes: PartCodec,
): LinkVerification {
  const near = (here: RecordKey, other: UserKey): LinkEnd => mapEnd(store, model.name, here, other, attributes)
  if (inverse === undefined || otherLists === undefined)
    return { ...oneSided(mapKeys(model), near, target), ...storedIn(model, store) }
  const pair = pairOfEnds(model, mapKeys(model), (here, other) => {
    const far = recordOfRef(target, other)
    const mirror = mapEnd(otherLists.at(far), inverse.name, far, storedRef(inverse, here), attributes)
    return [
      { ...near(here, other), ...APART },
      { ...mirror, ...APART },
    ]
  })
  return { ...pair, ...storedIn(model, store) }
}

const APART = { mayBeApart: true } as const

/** Children that are deleted with their parent are archived with it, unless they are link records, which stay. */
const apartUnless = (onDelete: OnDelete | undefined): Pick<LinkEnd, 'mayBeApart'> =>
  onDelete === 'detach' ? APART : {}

/** The link is stored at both ends, and the model says which of them is the truth. */
export function pairOfEnds(
  relation: RelationModel,
  readKeys: LinkVerification['readKeys'],
  endsOf: (here: RecordKey, other: UserKey) => readonly [LinkEnd, LinkEnd],
): LinkVerification {
  const side = relation.owner ? 'owner' : 'mirror'
  return {
    side,
    readKeys,
    link: (here, other) => {
      const [near, far] = endsOf(here, other)
      const [owner, mirror] = side === 'owner' ? [near, far] : [far, near]
      return { owner, mirror, unmirrored: 'oneSidedLink' }
    },
  }
}

/** Links that nobody else knows of: all that can be wrong is a key without a record. */
function oneSided(
  readKeys: LinkVerification['readKeys'],
  near: (here: RecordKey, other: UserKey) => LinkEnd,
  target: EntityModel,
): LinkVerification {
  return {
    side: 'owner',
    readKeys,
    link: (here, other) => ({
      owner: near(here, other),
      mirror: bareEnd(target, other),
      unmirrored: 'oneSidedLink',
    }),
  }
}

const oneSidedList = (relation: RelationModel, store: MemberStore, target: EntityModel): LinkVerification => ({
  ...oneSided(listKeys(relation), (here, other) => listEnd(store, relation.name, here, other), target),
  ...storedIn(relation, store),
})

const storedIn = ({ name }: RelationModel, store: MemberStore): Pick<LinkVerification, 'list' | 'apart'> => ({
  list: { property: name, bin: store.bin },
  ...(store.isApart && { apart: store }),
})

function listKeys(relation: RelationModel): LinkVerification['readKeys'] {
  const list = bin('list', relation.bin!)
  return (count: number, from?: UserKey): ReadOperation =>
    readExpression(
      `_sk.${relation.index}.keys`,
      // By rank, as what follows: a list that was created unordered would show some of its items on no page.
      from === undefined ? ask('listRankSlice', list, [0, count]) : listFrom(list, from, count),
    )
}

function mapKeys(relation: RelationModel): LinkVerification['readKeys'] {
  const map = bin('map', relation.bin!)
  return (count: number, from?: UserKey): ReadOperation =>
    readExpression(
      `_sk.${relation.index}.keys`,
      from === undefined ? mapKeySlice(map, 0, count) : mapKeysFrom(map, from, count),
    )
}

const listedEnd = (lists: OwnerLists, property: string, owner: RecordKey, member: UserKey): LinkEnd =>
  listEnd(lists.at(owner), property, owner, member)

/** The record that a stored reference leads to, of which only its being there counts. */
export function bareEnd(target: EntityModel, stored: UserKey): LinkEnd {
  const key = recordOfRef(target, stored)
  return { model: modelAt(target, key), key }
}

const keyIn = ({ namespace, set }: EntityModel, key: UserKey): RecordKey => recordKey(namespace, set, key)
