import { storedRef } from '../contract/member.js'
import type { KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import { cut, type CollectionMembers, type KeyRange } from '../contract/collection-members.js'
import type { FoundPage, FoundStep, Reader } from '../contract/reader.js'
import { storedKeys } from '../contract/stored-keys.js'
import type { Tracked } from '../contract/tracked.js'
import { compareKeys } from './compare-keys.js'
import type { LinkBin } from './link-bin.js'
import { readCursor, showCursor } from './member-cursor.js'

/** Members read at a time by a stream. */
const STEP = 256

/** More than one record holds. */
const ALL = 2 ** 31 - 1

/** Answers questions about members that may be in several records, from what those hold; the records are asked by a subclass. */
export abstract class MembersApart implements CollectionMembers {
  protected readonly model: EntityModel
  protected readonly target: EntityModel
  protected readonly layout: LinkBin
  protected readonly bin: string
  readonly #relation: RelationModel

  constructor(model: EntityModel, relation: RelationModel, target: EntityModel, layout: LinkBin) {
    this.model = model
    this.target = target
    this.layout = layout
    this.bin = relation.bin!
    this.#relation = relation
  }

  abstract count(owner: Tracked, reader: Reader): Promise<number>

  /** Filters these members for those that the owner has. */
  abstract held(
    owner: RecordKey,
    members: readonly UserKey[],
    reader: Pick<Reader, 'read'>,
  ): Promise<readonly UserKey[]>

  /** Attributes of the link to a member. */
  abstract attributesOf(owner: RecordKey, member: UserKey, reader: Pick<Reader, 'read'>): Promise<Value | undefined>

  /** Everything that is stored of each owner's members, as its bin would hold it in one record. */
  abstract stored(owners: readonly RecordKey[], reader: Reader): Promise<readonly (Value | undefined)[]>

  /** Records beside the owner's own that hold members of it, or have held some. */
  abstract there(owner: RecordKey, reader: Reader): Promise<readonly RecordKey[]>

  /** The first keys of all records, or those from a key on, in their order; at least so many, where there are. */
  protected abstract firstKeys(
    owner: RecordKey,
    reader: Reader,
    count: number,
    from?: UserKey,
  ): Promise<readonly UserKey[]>

  /** All keys, each once, so many at a time. */
  abstract walk(owner: RecordKey, reader: Reader, count: number): AsyncGenerator<readonly UserKey[]>

  /** The first keys again and again, so many at a time, until there are none: those who ask take them out. */
  abstract firsts(owner: RecordKey, reader: Reader, count: number): AsyncGenerator<readonly UserKey[]>

  async countOf({ key }: Tracked, keys: readonly KeyValue[], reader: Reader): Promise<number> {
    const stored = keys.map((each) => storedRef(this.target, reader.recordKey(this.target, each)))
    return (await this.held(key, stored, reader)).length
  }

  async keys(owner: Tracked, reader: Reader, range?: KeyRange): Promise<readonly KeyValue[]> {
    const { offset, count } = range ?? { offset: 0, count: ALL }
    // A place from the end is known only when all are.
    const merged = await this.firstKeys(owner.key, reader, offset < 0 ? ALL : Math.min(offset + count, ALL))
    return this.keysOf(owner, cut(merged, { offset, count }), reader)
  }

  readonly byPosition = {
    page: async (owner: Tracked, reader: Reader, count: number, after?: string): Promise<FoundPage> => {
      const from = after === undefined ? undefined : readCursor(after)
      // The key that the page before ended with may be read again, and one more tells whether there is a next page.
      const merged = await this.firstKeys(owner.key, reader, count + 2, from)
      const rest = from === undefined ? merged : merged.filter((key) => compareKeys(key, from) > 0)
      const keys = rest.slice(0, count)
      const found = await reader.find(this.target, this.keysOf(owner, keys, reader))
      const present = found.filter((member) => member !== null)
      await reader.load(present)
      return { found: present, next: rest.length <= count ? undefined : showCursor(keys.at(-1)!) }
    },
    stream: (owner: Tracked, reader: Reader): AsyncIterable<FoundStep> => this.#stream(owner, reader),
  }

  keysOf(owner: Tracked, keys: readonly UserKey[], reader: Reader): KeyValue[] {
    const place = { model: this.model, key: owner.key, property: this.#relation.name }
    return storedKeys(place, this.target, () => keys, reader)
  }

  /** Joins the bins of several records, some of which may hold nothing, as if all members were in one record. */
  protected merged(bins: readonly (Value | undefined)[]): Value {
    return this.layout.merge(bins.filter((stored) => stored !== undefined && stored !== null))
  }

  async *#stream(owner: Tracked, reader: Reader): AsyncGenerator<FoundStep> {
    const { target } = this.#relation
    for await (const stored of this.walk(owner.key, reader, STEP)) {
      const keys = this.keysOf(owner, stored, reader)
      const known = new Set(keys.map((key) => reader.known(target, key)))
      const found = (await reader.find(this.target, keys)).filter((member) => member !== null)
      yield { found, fresh: found.filter((member) => !known.has(member)), leaving: [] }
    }
  }
}
