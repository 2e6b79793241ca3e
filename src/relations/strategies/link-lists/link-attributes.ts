import { inEntry, readProperty, unreadable, unstorable, ValueProblem, type PartCodec } from '../../../codec/index.js'
import { cut, SkeinError } from '../../../errors/index.js'
import type { KeyValue } from '../../../keys/index.js'
import { didYouMean, type EntityModel, type RelationModel } from '../../../model/index.js'
import type { Bins } from '../../../plan/command.js'
import type { WriteOperation } from '../../../plan/operation.js'
import { atKey, mapPutItems, removeBin } from '../../../plan/operations.js'
import { userKeyId, type UserKey } from '../../../plan/record-key.js'
import type { Value } from '../../../plan/value.js'
import type { CollectionState } from '../../state/collection-state.js'
import type { Tracked } from '../../contract/tracked.js'
import type { Reader } from '../../contract/reader.js'
import { mapBin } from '../../write/link-bin.js'
import { LinkValue } from '../../state/relation-side.js'
import { isCollection, storedRef, type Member } from '../../contract/member.js'
import type { MemberStore } from '../../contract/member-store.js'
import { collectionStateOf } from '../../state/state-of.js'
import type { ChangedPart } from '../../contract/relation-strategy.js'

/** Attributes of links: an embeddable, stored under the other's key on both sides. */
export class LinkAttributes {
  readonly #codec: PartCodec
  readonly #relation: RelationModel
  readonly #target: EntityModel
  readonly #store: MemberStore

  constructor(codec: PartCodec, relation: RelationModel, target: EntityModel, store: MemberStore) {
    this.#codec = codec
    this.#store = store
    this.#relation = relation
    this.#target = target
  }

  /** Attributes that changed since they were stored. */
  *changed({ links }: CollectionState): Iterable<[KeyValue, LinkValue]> {
    for (const [key, link] of links.entries) {
      if (link.snapshot !== undefined && !this.#codec.same(link.value, link.snapshot)) yield [key, link]
    }
  }

  /** Attributes that are new or changed. */
  *unsent(state: CollectionState): Iterable<ChangedPart> {
    for (const member of state.added) {
      const link = state.links.get(member)
      if (link !== undefined) yield { key: state.keyOf(member), part: link.value }
    }
    for (const [key, { value }] of this.changed(state)) if (!state.isAdded(key)) yield { key, part: value }
  }

  /** Encodes the attributes of a new link; undefined when it has none. */
  encode(state: CollectionState, member: Member): Value | undefined {
    const link = state.links.get(member)
    if (link !== undefined) this.#checkNames(link.value)
    return link && this.#guard(state, state.keyOf(member), () => this.#codec.encode(this.#notEnded(link.value), 1))
  }

  /** Writes all links of a record into another one, as their class stores them. */
  copied(bins: Bins): readonly WriteOperation[] {
    const { bin } = this.#store
    const stored = bins[bin]
    if (stored == null) return []
    const entries = mapBin.entriesIn(stored, this.#target)
    const items = new Map(entries.map(([key, carried]) => [key, this.#codec.encode(this.#codec.decode(carried!), 1)]))
    const create = [removeBin(bin), mapBin.create(bin)]
    return items.size === 0 ? create : [...create, mapPutItems(bin, items)]
  }

  /** Operations that update the attributes under that key, without the rest of the map. */
  patch(
    state: CollectionState,
    key: KeyValue,
    link: LinkValue,
    bin: string,
    other: UserKey,
  ): readonly WriteOperation[] {
    const { value, snapshot } = link
    return this.#guard(state, key, () =>
      this.#codec.patch(this.#notEnded(value), snapshot, { bin, path: [atKey(other)] }),
    )
  }

  /** The time at which a link was ended is written by `unlink` alone. */
  #notEnded(value: object): object {
    const { deletedAt } = this.#codec.model
    if (deletedAt === undefined || readProperty(value, deletedAt) == null) return value
    const fix = `Leave ${deletedAt} out; unlink() ends a link, and restore() brings it back.`
    throw inEntry(deletedAt, null, new ValueProblem('is only set by unlink()', fix))
  }

  /** A plain object has only what was written there, and a misspelt name would be dropped; an instance may have more than is stored. */
  #checkNames(value: object): void {
    const { name: className, properties, relations } = this.#codec.model
    if (Object.getPrototypeOf(value) !== Object.prototype) return
    const known = [...properties, ...relations].map(({ name }) => name)
    const unknown = Object.keys(value).find((name) => !known.includes(name))
    if (unknown === undefined) return
    throw new SkeinError('SKEIN_2310', `The attributes of ${this.#relation.name} have no property '${cut(unknown)}'.`, {
      className,
      property: unknown,
      fix: `${didYouMean(unknown, known)}${className} has: ${known.join(', ')}.`,
    })
  }

  snapshot(link: LinkValue): object {
    return this.#codec.snapshot(link.value)
  }

  /** Takes over what is stored of a link. Where the session has the other side, both share it. */
  take(owner: Tracked, key: KeyValue, stored: Value, state: CollectionState, reader: Reader): LinkValue {
    const known = state.links.get(key) ?? this.#onOtherSide(owner, key, reader)
    const link = known ?? this.decode(owner, key, stored)
    state.shareLink(key, link)
    return link
  }

  /** Decodes the stored attributes of a link that is not loaded yet. */
  decode({ model, key: record }: Tracked, key: KeyValue, stored: Value): LinkValue {
    try {
      const value = this.#codec.decode(stored)
      return new LinkValue(value, this.#codec.snapshot(value))
    } catch (error) {
      throw unreadable(model, record.key, inEntry(this.#relation.name, key, error))
    }
  }

  /** The record was read again: what is at hand becomes what is stored by key, and what is not stored any more is detached. */
  refill(state: CollectionState, stored: ReadonlyMap<string, Value>): void {
    for (const [key, link] of state.links.entries) {
      if (link.isPartlySent || state.isPartlySent(key)) continue
      const value = stored.get(userKeyId(key))
      if (value === undefined) state.links.delete(key)
      else {
        this.#codec.fill(link.value, value)
        link.confirm(this.#codec.snapshot(link.value))
      }
    }
  }

  /** Reads the attributes of one link in one command, without the rest of the map. */
  async read(owner: Tracked, key: KeyValue, state: CollectionState, reader: Reader): Promise<object | null> {
    const member = storedRef(this.#target, reader.recordKey(this.#target, key))
    const found = await this.#store.attributesOf({ owner: owner.key, member }, reader)
    return found == null ? null : this.take(owner, key, found, state, reader).value
  }

  #onOtherSide(owner: Tracked, key: KeyValue, reader: Reader): LinkValue | undefined {
    const { inverse } = this.#relation
    const other = inverse === undefined ? undefined : reader.known(this.#target.name, key)
    const there = other && readProperty(other.entity, inverse!)
    if (!isCollection(there)) return undefined
    return collectionStateOf(there).links.get(owner.entity)
  }

  #guard<T>({ binding }: CollectionState, key: KeyValue | null, work: () => T): T {
    try {
      return work()
    } catch (error) {
      const { model, key: record } = binding!.tracked
      throw unstorable(model, record.key, inEntry(this.#relation.name, key, error))
    }
  }
}
