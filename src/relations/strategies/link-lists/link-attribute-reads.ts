import { readProperty } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import { userKeyId } from '../../../plan/record-key.js'
import type { Value } from '../../../plan/value.js'
import type { Member } from '../../contract/member.js'
import type { Reader } from '../../contract/reader.js'
import { noAttributes } from '../../contract/relation-errors.js'
import { storedKeys } from '../../contract/stored-keys.js'
import type { Tracked } from '../../contract/tracked.js'
import type { CollectionState } from '../../state/collection-state.js'
import { collectionStateOf } from '../../state/state-of.js'
import type { LinkAttributes } from './link-attributes.js'
import type { LinkListSides } from './link-list-sides.js'

/** Reads the attributes of stored links. */
export class LinkAttributeReads {
  readonly #sides: LinkListSides
  readonly #attributes: LinkAttributes | undefined

  constructor(sides: LinkListSides, attributes: LinkAttributes | undefined) {
    this.#sides = sides
    this.#attributes = attributes
  }

  async attributesOf(owner: Tracked, member: Member, reader: Reader): Promise<object | null> {
    const state = this.#state(owner.entity)
    const key = state.keyOf(member)
    if (this.#attributes === undefined) throw noAttributes(state.binding!)
    return key === null ? null : this.#attributes.read(owner, key, state, reader)
  }

  async storedLinks(owner: Tracked, reader: Reader): Promise<readonly (readonly [KeyValue, object])[]> {
    const [stored = {}] = await this.#sides.store.read([owner.key], reader)
    const place = { model: this.#sides.owner, key: owner.key, property: this.#sides.model.name }
    storedKeys(place, this.#sides.target, () => this.#sides.bin.keysIn(stored, this.#sides.target), reader)
    return this.#attributesIn(stored, reader).map(([key, value]) => [
      key,
      this.#attributes!.decode(owner, key, value).value,
    ])
  }

  check(owner: Tracked, stored: Value | undefined, reader: Reader): void {
    const { links } = this.#state(owner.entity)
    if (links.isEmpty) return
    const known = new Set(links.entries.map(([key]) => userKeyId(key)))
    for (const [key, value] of this.#attributesIn(stored ?? {}, reader))
      if (known.has(userKeyId(key))) this.#attributes!.decode(owner, key, value)
  }

  /** Attributes that were known before the record was read are kept up to date. */
  attached({ entity }: Tracked, reader: Reader, stored: Value | undefined, isRead: boolean): void {
    const state = this.#state(entity)
    if (!isRead || state.links.isEmpty) return
    const entries = this.#attributesIn(stored ?? {}, reader)
    this.#attributes!.refill(state, new Map(entries.map(([key, value]) => [userKeyId(key), value])))
  }

  /** Takes over the attributes of all links of a list that was loaded. */
  take(attributes: LinkAttributes, owner: Tracked, state: CollectionState, stored: Value, reader: Reader): void {
    for (const [key, value] of this.#attributesIn(stored, reader)) attributes.take(owner, key, value, state, reader)
  }

  #attributesIn(stored: Value, reader: Reader): [KeyValue, Value][] {
    const values = stored as { readonly [key: string]: Value }
    return this.#sides.bin
      .keysIn(stored, this.#sides.target)
      .map((key) => [reader.fromStored(this.#sides.target, key), values[String(key)]])
  }

  #state(entity: object): CollectionState {
    return collectionStateOf(readProperty(entity, this.#sides.model.name) as object)
  }
}
