import type { EntityModel } from '../model/index.js'
import type { WriteOperation } from '../plan/operation.js'
import { userKeyId } from '../plan/record-key.js'
import type { BinProperty } from './bin-property.js'
import type { ClassFunctions, Snapshot } from './class-functions.js'
import { keyChanged, notLoaded, readInPart, unstorable } from './codec-errors.js'
import type { EntityKey } from './entity-key.js'
import { knownKey } from './known-key.js'
import { changeOfPart, isRefusal } from './loaded-part.js'
import { readProperty } from './own-property.js'
import type { Loaded, LoadedSet, PropertyCodec } from './property-codec.js'

/** Changed properties of an entity as operations on its record. */
export class RecordChanges {
  readonly #model: EntityModel
  readonly #key: EntityKey
  readonly #properties: readonly PropertyCodec[]
  readonly #functions: ClassFunctions

  constructor(model: EntityModel, key: EntityKey, properties: readonly PropertyCodec[], functions: ClassFunctions) {
    this.#model = model
    this.#key = key
    this.#properties = properties
    this.#functions = functions
  }

  /** The operations that bring the properties with these indexes from the snapshot to what they are now. */
  operations(
    entity: object,
    snapshot: Snapshot,
    changed: readonly number[],
    loaded: Loaded,
  ): readonly WriteOperation[] {
    try {
      // Usually a single property has changed.
      if (changed.length === 1) return this.#change(entity, snapshot, changed[0], loaded)
      return changed.flatMap((index) => this.#change(entity, snapshot, index, loaded))
    } catch (error) {
      throw unstorable(this.#model, knownKey(this.#key, entity), error)
    }
  }

  #change(entity: object, snapshot: Snapshot, index: number, loaded: Loaded): readonly WriteOperation[] {
    const property = this.#properties[index]
    if (loaded && !loaded.has(property.name)) return this.#changePart(entity, snapshot, index, loaded)
    if (this.#model.key.properties.includes(property.name)) this.#checkKey(entity, snapshot)
    return property.change(readProperty(entity, property.name), this.#functions.snapshotOf(snapshot, index))
  }

  #changePart(entity: object, snapshot: Snapshot, index: number, { parts }: LoadedSet): readonly WriteOperation[] {
    const property = this.#properties[index]
    const { name } = property
    const part = parts?.get(name)
    if (part === undefined) throw notLoaded(this.#model, knownKey(this.#key, entity), name)
    const known = this.#functions.snapshotOf(snapshot, index)
    const change = changeOfPart(part, property as BinProperty, readProperty(entity, name), known)
    if (isRefusal(change)) throw readInPart(this.#model, knownKey(this.#key, entity), name, change)
    return change
  }

  /** A part of a template may change as long as the key stays the same, such as the hour where the key has the day. */
  #checkKey(entity: object, snapshot: Snapshot): void {
    const parts: Record<string, unknown> = { ...this.#key.partsOf(entity) }
    for (const [index, property] of this.#properties.entries()) {
      if (!this.#model.key.properties.includes(property.name)) continue
      const known = this.#functions.snapshotOf(snapshot, index)
      parts[property.name] = property.inline === 'date' && typeof known === 'number' ? new Date(known) : known
    }
    const before = this.#key.scheme.keyOf(parts)
    const now = knownKey(this.#key, entity)
    if (now === undefined || userKeyId(before) !== userKeyId(now)) throw keyChanged(this.#model, before, now)
  }
}
