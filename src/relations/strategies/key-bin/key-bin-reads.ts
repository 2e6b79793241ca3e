import { readProperty } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import type { EntityModel, RelationModel } from '../../../model/index.js'
import { read } from '../../../plan/command.js'
import type { UserKey } from '../../../plan/record-key.js'
import { isEntity } from '../../contract/member.js'
import type { Reader } from '../../contract/reader.js'
import { isKeyOf, unreadableRef } from '../../contract/stored-keys.js'
import type { Tracked } from '../../contract/tracked.js'
import type { RefState } from '../../state/ref-state.js'
import { refStateOf } from '../../state/state-of.js'

/** Reads the key in the bin, and the record that it leads to. */
export class KeyBinReads {
  readonly #model: RelationModel
  readonly #owner: EntityModel
  readonly #target: EntityModel

  constructor(model: RelationModel, owner: EntityModel, target: EntityModel) {
    this.#model = model
    this.#owner = owner
    this.#target = target
  }

  async load(level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]> {
    const states = level.map(({ entity }) => this.#state(entity))
    await this.readUnknown(level, states, reader)
    const pending = states.filter(({ target }) => target !== null && !isEntity(target))
    const found = await reader.find(
      this.#target,
      pending.map(({ target }) => target as KeyValue),
      along,
    )
    // A key whose record is gone points to nothing; what is stored stays until somebody changes it.
    pending.forEach((state, i) => (found[i] === null ? state.lost() : state.resolve(found[i].entity)))
    const targets = states.flatMap(({ target }) => (isEntity(target) ? (reader.tracked(target) ?? []) : []))
    return [...new Set(targets)]
  }

  async targetKey(owner: Tracked, reader: Reader): Promise<KeyValue | null> {
    const [record] = await reader.read([read(this.#owner.name, owner.key, [this.#model.bin!])])
    const stored = record?.bins[this.#model.bin!] ?? null
    if (stored === null) return null
    if (!isKeyOf(this.#target, stored))
      throw unreadableRef({ model: this.#owner, key: owner.key, property: this.#model.name }, this.#target.name, stored)
    return reader.fromStored(this.#target, stored)
  }

  /** Reads the owner that the record says now. */
  async storedOwner(tracked: Tracked, reader: Reader): Promise<KeyValue | null> {
    const [record] = await reader.read([read(this.#owner.name, tracked.key, [this.#model.bin!])])
    const stored = record?.bins[this.#model.bin!] as UserKey | undefined
    return stored === undefined ? null : reader.fromStored(this.#target, stored)
  }

  /** Reads the keys of those that were not read with their record. */
  async readUnknown(level: readonly Tracked[], states: readonly RefState[], reader: Reader): Promise<void> {
    const unknown = level.filter((_, i) => !states[i].isRead)
    if (unknown.length === 0) return
    const records = await reader.read(unknown.map(({ model, key }) => read(model.name, key, [this.#model.bin!])))
    unknown.forEach(({ entity }, i) => {
      const stored = records[i]?.bins[this.#model.bin!] as UserKey | undefined
      this.#state(entity).takeStored(stored === undefined ? null : reader.fromStored(this.#target, stored))
    })
  }

  #state(entity: object): RefState {
    return refStateOf(readProperty(entity, this.#model.name) as object)
  }
}
