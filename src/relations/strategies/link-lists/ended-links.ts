import { inEntry, unreadable, writeProperty, type PartCodec } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import { read, write, type WriteCommand } from '../../../plan/command.js'
import { bin, mapCount, mapGet, mapKeySlice, mapKeysFrom } from '../../../plan/expression.js'
import { mapGetKeys, readExpression } from '../../../plan/operations.js'
import { recordKey, type RecordKey, type UserKey } from '../../../plan/record-key.js'
import type { Value } from '../../../plan/value.js'
import type { CollectionMembers } from '../../contract/collection-members.js'
import type { EndedLinks } from '../../contract/ended-links.js'
import type { LinkEnd, LinkVerification } from '../../contract/link-verification.js'
import type { Reader } from '../../contract/reader.js'
import { readKeysBin, type KeysPlace } from '../../contract/stored-keys.js'
import type { Tracked } from '../../contract/tracked.js'
import { pairOfEnds } from '../../verify/relation-links.js'
import type { EndedBin, EndedLink } from '../../write/ended-bin.js'
import { endedBinOf } from '../../write/ended-bin.js'
import { keysMembers } from '../../write/keys-members.js'
import { linkWrite } from '../../write/link-bin.js'
import type { LinkListSides } from './link-list-sides.js'

const PAGE = 'ended'

/** Links of one side that were ended and stay stored, each with its attributes and the time. */
export class EndedLinkReads implements EndedLinks {
  readonly property: string
  readonly verification: LinkVerification
  readonly #sides: LinkListSides
  readonly #codec: PartCodec
  readonly #members: CollectionMembers
  readonly #bin: string

  constructor(sides: LinkListSides, codec: PartCodec) {
    const { owner, target, model, bin } = sides
    this.#sides = sides
    this.#codec = codec
    this.property = codec.model.deletedAt!
    this.#bin = model.endedBin!
    this.#members = keysMembers(owner, target, { ...model, bin: this.#bin }, bin.reads)
    this.verification = this.#verification()
  }

  keys(owner: Tracked, reader: Reader): Promise<readonly KeyValue[]> {
    return this.#members.keys(owner, reader)
  }

  async attributesOf(owner: Tracked, key: KeyValue, reader: Reader): Promise<object | null> {
    const member = reader.recordKey(this.#sides.target, key).key
    const command = read(this.#sides.owner.name, owner.key, 'none', [mapGetKeys(this.#bin, [member], 'value')])
    const asked = { bin: this.#bin, holds: 'map' } as const
    const stored = await readKeysBin(this.#place(owner), asked, this.#sides.target, command, reader)
    return stored == null ? null : this.#decode(owner, key, stored)
  }

  async links(owner: Tracked, reader: Reader): Promise<readonly (readonly [KeyValue, object])[]> {
    const [record] = await reader.read([read(this.#sides.owner.name, owner.key, [this.#bin])])
    const entries = this.#sides.bin.entriesIn(record?.bins[this.#bin] ?? {}, this.#sides.target)
    return entries.map(([stored, link]) => {
      const key = reader.fromStored(this.#sides.target, stored)
      return [key, this.#decode(owner, key, link!)]
    })
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

  #place({ key }: Tracked): KeysPlace {
    return { model: this.#sides.owner, key, property: this.#sides.model.name }
  }

  #verification(): LinkVerification {
    const { model, owner, target, inverse } = this.#sides
    const map = bin('map', this.#bin)
    const name = `_sk.${model.index}.${PAGE}`
    const readKeys: LinkVerification['readKeys'] = (count, from) =>
      readExpression(name, from === undefined ? mapKeySlice(map, 0, count) : mapKeysFrom(map, from, count))
    const near = (here: RecordKey, other: UserKey): LinkEnd => this.#end(owner, model.name, this.#bin, here, other)
    const far = (key: UserKey): RecordKey => recordKey(target.namespace, target.set, key)
    if (inverse === undefined)
      return {
        side: 'owner',
        readKeys,
        link: (here, other) => ({
          owner: near(here, other),
          mirror: { model: target, key: far(other) },
          unmirrored: 'oneSidedLink',
          isEnded: true,
        }),
      }
    const pair = pairOfEnds(model, readKeys, (here, other) => [
      near(here, other),
      this.#end(target, inverse.name, inverse.endedBin!, far(other), here.key),
    ])
    return { ...pair, link: (here, other) => ({ ...pair.link(here, other), isEnded: true }) }
  }

  #end(model: LinkEnd['model'], property: string, name: string, key: RecordKey, other: UserKey): LinkEnd {
    const ended = endedBinOf(name)
    const map = bin('map', name)
    return {
      model,
      key,
      property,
      holds: mapCount(map, other),
      carries: mapGet(map, other, 'list'),
      add: (carried) => this.#copy(model.name, key, ended, other, carried as EndedLink),
      remove: () => linkWrite(model, key, [ended.forget([other])]),
    }
  }

  #copy(entity: string, key: RecordKey, ended: EndedBin, other: UserKey, link: EndedLink): WriteCommand {
    return write(entity, key, [ended.copy(other, recoded(this.#codec, link))], { exists: 'mustExist', ttl: 'keep' })
  }
}

/** Through the codec, because the client does not give back every number as it was stored. */
export const recoded = (codec: PartCodec, [at, attributes]: EndedLink): EndedLink => [
  at,
  codec.encode(codec.decode(attributes), 1),
]
