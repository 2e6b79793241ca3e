import { readProperty } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import { read } from '../../../plan/command.js'
import { bin, binExists, not, type Expression } from '../../../plan/expression.js'
import { readExpression } from '../../../plan/operations.js'
import { changePath, children, takenOut } from '../../../plan/path-expression.js'
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

  async storedLinks(
    owner: Tracked,
    reader: Reader,
    only?: Expression,
  ): Promise<readonly (readonly [KeyValue, object])[]> {
    const { store } = this.#sides
    const stored =
      (only === undefined || store.isApart ? undefined : await this.#matching(owner, reader, only)) ??
      (await store.read([owner.key], reader))[0] ??
      {}
    const place = { model: this.#sides.owner, key: owner.key, property: this.#sides.model.name }
    storedKeys(place, this.#sides.target, () => this.#sides.bin.keysIn(stored, this.#sides.target), reader)
    return this.#attributesIn(stored, reader).map(([key, value]) => [
      key,
      this.#attributes!.decode(owner, key, value).value,
    ])
  }

  /** Map of links without those that the server leaves out; undefined where the bin is not a map. */
  async #matching({ key }: Tracked, reader: Reader, only: Expression): Promise<Value | undefined> {
    const { model, bin: name } = this.#sides.store
    const answer = `_sk.${this.#sides.model.index}.match`
    const others = changePath(bin('map', name), [children(not(only))], takenOut(), 'map')
    const there = `_sk.${this.#sides.model.index}.there`
    const operations = [readExpression(answer, others), readExpression(there, binExists(name))]
    const [record] = await reader.read([read(model.name, key, 'none', operations)])
    return record?.bins[answer] ?? (isThere(record?.bins[there]) ? undefined : {})
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

/** Older servers answer conditions with 1. */
const isThere = (answer: Value | undefined): boolean => answer === true || answer === 1
