import { inEntry, unreadable, writeProperty, type PartCodec } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import { bin, mapCount, mapGet, mapKeySlice, mapKeysFrom } from '../../../plan/expression.js'
import { readExpression } from '../../../plan/operations.js'
import { userKeyId, type RecordKey, type UserKey } from '../../../plan/record-key.js'
import type { Value } from '../../../plan/value.js'
import type { MemberStore } from '../../contract/member-store.js'
import type { EndedLinks } from '../../contract/ended-links.js'
import type { LinkEnd, LinkVerification } from '../../contract/link-verification.js'
import { recordOfRef } from '../../contract/member.js'
import type { Reader } from '../../contract/reader.js'
import type { Tracked } from '../../contract/tracked.js'
import { placeOf } from '../../verify/link-ends.js'
import { bareEnd, pairOfEnds } from '../../verify/relation-links.js'
import type { EndedLink } from '../../contract/ended-entries.js'
import { ownerLists } from '../../write/owner-lists.js'
import { endedStoreOf } from '../../write/store-of.js'
import { heldHere, heldThere, type LinkListSides } from './link-list-sides.js'

const PAGE = 'ended'

/** Links of one side that were ended and stay stored, each with its attributes and the time. */
export class EndedLinkReads implements EndedLinks {
  readonly property: string
  readonly verification: LinkVerification
  readonly #sides: LinkListSides
  readonly #codec: PartCodec
  /** Ended links are stored beside the others, in the same records. */
  readonly #store: MemberStore

  constructor(sides: LinkListSides, codec: PartCodec) {
    const { owner, target, model } = sides
    this.#sides = sides
    this.#codec = codec
    this.property = codec.model.deletedAt!
    this.#store = endedStoreOf(owner, model, target, codec)
    this.verification = this.#verification()
  }

  async keys(owner: Tracked, reader: Reader): Promise<readonly KeyValue[]> {
    const keys = await this.#store.members.keys(owner, reader)
    const members = keys.map((key) => heldHere(this.#sides, reader.recordKey(this.#sides.target, key)))
    const isAgain = await this.#again(owner, members, reader)
    return keys.filter((_, i) => !isAgain(members[i]))
  }

  async attributesOf(owner: Tracked, key: KeyValue, reader: Reader): Promise<object | null> {
    const member = heldHere(this.#sides, reader.recordKey(this.#sides.target, key))
    const stored = await this.#store.attributesOf({ owner: owner.key, member }, reader)
    if (stored == null || (await this.#again(owner, [member], reader))(member)) return null
    return this.#decode(owner, key, stored)
  }

  async links(owner: Tracked, reader: Reader): Promise<readonly (readonly [KeyValue, object])[]> {
    const [stored] = await this.#store.read([owner.key], reader)
    const entries = this.#sides.bin.entriesIn(stored ?? {}, this.#sides.target)
    const isAgain = await this.#again(
      owner,
      entries.map(([member]) => member),
      reader,
    )
    const ended = entries.filter(([member]) => !isAgain(member))
    return ended.map(([member, link]) => {
      const key = reader.fromStored(this.#sides.target, member)
      return [key, this.#decode(owner, key, link!)]
    })
  }

  /** Finds links that are there again: a process may have died before it dropped what another record keeps of them. */
  async #again({ key }: Tracked, members: readonly UserKey[], reader: Reader): Promise<(member: UserKey) => boolean> {
    const { store } = this.#sides
    if (store.endedEntries === undefined || members.length === 0) return () => false
    const again = new Set((await store.held(key, members, reader)).map(userKeyId))
    return (member) => again.has(userKeyId(member))
  }

  #decode({ model, key: record }: Tracked, key: KeyValue, stored: Value): object {
    try {
      const [at, attributes] = stored as EndedLink
      const value = this.#codec.decode(attributes)
      writeProperty(value, this.property, new Date(at))
      return value
    } catch (error) {
      throw unreadable(model, record.key, inEntry(this.#sides.model.name, key, error))
    }
  }

  #verification(): LinkVerification {
    const { model, owners, target, inverse } = this.#sides
    const store = this.#store
    const map = bin('map', store.bin)
    const name = `_sk.${model.index}.${PAGE}`
    const readKeys: LinkVerification['readKeys'] = (count, from) =>
      readExpression(name, from === undefined ? mapKeySlice(map, 0, count) : mapKeysFrom(map, from, count))
    const apart = store.isApart ? { apart: store } : {}
    const near = (here: RecordKey, other: UserKey): LinkEnd =>
      this.#end(store, this.#sides.store, model.name, here, other)
    if (inverse === undefined)
      return {
        side: 'owner',
        readKeys,
        ...apart,
        link: (here, other) => ({
          owner: near(here, other),
          mirror: bareEnd(target, other),
          unmirrored: 'oneSidedLink',
          isEnded: true,
        }),
      }
    const others = ownerLists(target, inverse, owners, { attributes: this.#codec, stores: endedStoreOf })
    const pair = pairOfEnds(model, readKeys, (here, other) => {
      const far = recordOfRef(target, other)
      const links = this.#sides.otherLists!.at(far)
      const there = this.#end(others.at(far), links, inverse.name, far, heldThere(this.#sides, here))
      return [near(here, other), there]
    })
    return { ...pair, ...apart, link: (here, other) => ({ ...pair.link(here, other), isEnded: true }) }
  }

  #end(store: MemberStore, links: MemberStore, property: string, owner: RecordKey, member: UserKey): LinkEnd {
    const map = bin('map', store.bin)
    return {
      model: store.model,
      key: owner,
      property,
      ...(store.isApart && { apart: { store, member, home: () => store.homeOf(owner, member) } }),
      holds: mapCount(map, member),
      carries: mapGet(map, member, 'list'),
      ...(store.lookup !== undefined && { again: mapCount(bin('map', links.bin), member) }),
      add: (carried, isHomeThere) =>
        store.addition(
          { owner, member, attributes: recoded(this.#codec, carried as EndedLink), isRepair: true },
          isHomeThere,
        ),
      remove: (home) => store.removal({ owner, member }, placeOf(store, home)),
    }
  }
}

/** Decodes through the codec, because the client does not return every number as it was stored. */
export const recoded = (codec: PartCodec, [at, attributes]: EndedLink): EndedLink => [
  at,
  codec.encode(codec.decode(attributes), 1),
]
