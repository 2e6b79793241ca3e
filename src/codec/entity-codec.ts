import type { EntityModel } from '../model/index.js'
import type { Bins } from '../plan/command.js'
import type { WriteOperation } from '../plan/operation.js'
import { writeBin } from '../plan/operations.js'
import type { Value } from '../plan/value.js'
import { assignedCopy, assignedCount } from './assigned-property.js'
import type { ClassFunctions, ClassShape, Snapshot } from './class-functions.js'
import type { BinProperty } from './bin-property.js'
import { readInPart, unknownClass, unreadable, unstorable } from './codec-errors.js'
import type { EntityKey } from './entity-key.js'
import { keyInBins, knownKey } from './known-key.js'
import { hideAllUnread, hideUnread, onlyEntries, UNSENT } from './loaded-part.js'
import { readProperty, writeProperty } from './own-property.js'
import type { Loaded, LoadedSet, PropertyCodec } from './property-codec.js'
import { RecordChanges } from './record-changes.js'
import { Stamps, type RecordMeta } from './stamps.js'

const NOTHING: readonly never[] = Object.freeze([])

/** Records to instances of one class and back, and the differences as operations. Nothing is remembered between calls. */
export class EntityCodec<T extends object = object> {
  readonly model: EntityModel
  readonly key: EntityKey
  readonly stamps: Stamps
  readonly #shape: ClassShape
  readonly #functions: ClassFunctions
  readonly #changes: RecordChanges
  /** A new record is its bins and nothing else: the generated code makes them all at once. */
  readonly #isPlain: boolean
  /** Classes that may be found where this one is asked for, by discriminator; undefined where there is none. */
  #byDiscriminator: ReadonlyMap<unknown, EntityCodec> | undefined

  constructor(model: EntityModel, key: EntityKey, shape: ClassShape, functions: ClassFunctions) {
    this.model = model
    this.key = key
    this.stamps = new Stamps(model)
    this.#shape = shape
    this.#functions = functions
    this.#changes = new RecordChanges(model, key, shape.properties, functions)
    this.#isPlain = shape.properties.every(({ isPlain, isCompared }) => isPlain && isCompared)
  }

  /** Separate from the constructor, because the classes of one set know each other. */
  setSubclasses(codecs: ReadonlyMap<unknown, EntityCodec>): void {
    this.#byDiscriminator = codecs
  }

  /** The instance that a record holds: of this class, or of the subclass that its discriminator names. */
  hydrate(bins: Bins, loaded?: Loaded, meta?: RecordMeta): T {
    const codec = this.#byDiscriminator === undefined ? this : this.#codecFor(bins)
    return codec.#hydrate(bins, loaded, meta) as T
  }

  /** Throws when the record is not one of this very class: another may have taken its place. */
  checkClass(bins: Bins): void {
    const { discriminator } = this.model
    if (discriminator === undefined) return
    const stored = readProperty(bins, discriminator.bin)
    if (stored === discriminator.value) return
    throw unknownClass(this.model, keyInBins(this.model, this.key, bins), discriminator.bin, stored)
  }

  /** Reads a record into an instance that exists; where a part of it cannot be read, none is. */
  fill(entity: T, bins: Bins, loaded?: Loaded, meta?: RecordMeta): void {
    const { properties, attach } = this.#shape
    const values = this.#decode(properties, bins, loaded)
    for (const [i, { name, isAssigned }] of properties.entries()) if (isAssigned) writeProperty(entity, name, values[i])
    attach?.(entity, bins, loaded)
    if (meta !== undefined && this.stamps.hasMeta) this.stamps.meta(entity, meta)
  }

  /**
   * Reads only these properties and relations into the entity and its snapshot: what a partial load left out. What was set there
   * meanwhile stays as a change; only what was read in part must be unchanged, because its snapshot does not show the rest.
   */
  complete(entity: T, snapshot: Snapshot, bins: Bins, names: ReadonlySet<string>, have?: Loaded, want?: Loaded): void {
    const { properties, attach } = this.#shape
    const wanted = properties.filter(({ name, isAssigned }) => isAssigned && names.has(name))
    const values = this.#decode(wanted, bins, undefined)
    const changed = new Set(this.changedProperties(entity, snapshot))
    const unsent = wanted.find(({ name }) => changed.has(name) && have?.parts?.has(name) === true)
    if (unsent !== undefined) throw readInPart(this.model, knownKey(this.key, entity), unsent.name, UNSENT)
    for (const [i, property] of wanted.entries()) {
      hideUnread(property, values[i], want)
      if (!changed.has(property.name)) writeProperty(entity, property.name, values[i])
      this.#functions.setSnapshot(snapshot, properties.indexOf(property), property.snapshot(values[i]))
    }
    attach?.(entity, bins, undefined, names)
  }

  /** After a write in doubt: moves the snapshot forward for what the write added to these bins, which is never sent again. */
  advance(snapshot: Snapshot, sent: Snapshot, bins: ReadonlySet<string>): void {
    const of = (one: Snapshot, index: number): unknown => this.#functions.snapshotOf(one, index)
    for (const [index, property] of this.#shape.properties.entries()) {
      if (!property.bins.some((bin) => bins.has(bin))) continue
      this.#functions.setSnapshot(snapshot, index, property.advanceAdded(of(snapshot, index), of(sent, index), bins))
    }
  }

  /** Brings the snapshot to what these bins of the record hold now of that which a write in doubt has changed; all else in it stays as it was known. */
  reread(snapshot: Snapshot, sent: Snapshot, stored: Bins, bins: ReadonlySet<string>, loaded?: Loaded): void {
    try {
      for (const [index, property] of this.#shape.properties.entries()) {
        if (!isComparedIn(property, bins)) continue
        const known = this.#functions.snapshotOf(snapshot, index)
        const part = loaded?.parts?.get(property.name)
        if (part?.kind === 'slice') continue
        const read = part === undefined ? stored : onlyEntries(property as BinProperty, stored, part, known)
        this.#functions.setSnapshot(
          snapshot,
          index,
          property.reread(known, this.#functions.snapshotOf(sent, index), read, bins),
        )
      }
    } catch (error) {
      throw unreadable(this.model, keyInBins(this.model, this.key, stored), error)
    }
  }

  /** Names of the properties in these bins, but for those that the mapper itself keeps. */
  propertiesIn(bins: ReadonlySet<string>): readonly string[] {
    return this.#shape.properties.filter((property) => isComparedIn(property, bins)).map(({ name }) => name)
  }

  /** Gives the newer snapshot what was read since it was taken: the properties that were not known then. */
  keepRead(snapshot: Snapshot, newer: Snapshot, known: LoadedSet, now: Loaded): void {
    for (const [index, { name }] of this.#shape.properties.entries()) {
      const part = known.parts?.get(name)
      if (known.has(name) || (part !== undefined && now?.parts?.get(name) === part)) continue
      this.#functions.setSnapshot(newer, index, this.#functions.snapshotOf(snapshot, index))
    }
  }

  /** All bins of the entity. Throws SKEIN_2201 for what cannot be stored. */
  dehydrate(entity: T): Bins {
    try {
      return this.#functions.dehydrate(entity, 0)
    } catch (error) {
      throw unstorable(this.model, knownKey(this.key, entity), error)
    }
  }

  /** The operations that make a new record of the entity; version and times are `stamps`' matter. */
  create(entity: T): readonly WriteOperation[] {
    const operations: WriteOperation[] = this.#shape.constants.map(([bin, value]) => writeBin(bin, value))
    try {
      for (const property of this.#shape.properties) {
        if (property.isCompared) property.create(operations, readProperty(entity, property.name))
      }
    } catch (error) {
      throw unstorable(this.model, knownKey(this.key, entity), error)
    }
    return operations
  }

  /** The bins of a new record, where each property is one bin that is written as it is; undefined where the record needs more. */
  createBins(entity: T): Bins | undefined {
    return this.#isPlain ? this.dehydrate(entity) : undefined
  }

  /** A copy of everything that a later `diff` compares with. Take it when the entity is as stored. */
  snapshot(entity: T): Snapshot {
    return this.#functions.snapshot(entity)
  }

  /** The operations that bring the record from the snapshot to the entity; empty when nothing changed. */
  diff(entity: T, snapshot: Snapshot, loaded?: Loaded): readonly WriteOperation[] {
    const changed = this.#functions.changed(entity, snapshot)
    return changed === undefined ? NOTHING : this.#changes.operations(entity, snapshot, changed, loaded)
  }

  /** True when `diff` would find something. */
  hasChanged(entity: T, snapshot: Snapshot): boolean {
    return this.#functions.changed(entity, snapshot) !== undefined
  }

  /** Names of the properties that differ from the snapshot. */
  changedProperties(entity: T, snapshot: Snapshot): readonly string[] {
    return (this.#functions.changed(entity, snapshot) ?? []).map((index) => this.#shape.properties[index].name)
  }

  /** True when this one property differs from the snapshot. */
  isChanged(entity: T, snapshot: Snapshot, name: string): boolean {
    const index = this.#indexOf(name)
    return !this.#shape.properties[index].same(readProperty(entity, name), this.#functions.snapshotOf(snapshot, index))
  }

  /** True when the snapshot has a value of this one property. */
  isStored(snapshot: Snapshot, name: string): boolean {
    return this.#functions.snapshotOf(snapshot, this.#indexOf(name)) !== undefined
  }

  /** Makes the snapshot show this one property as it is now. */
  acceptChange(entity: T, snapshot: Snapshot, name: string): void {
    const index = this.#indexOf(name)
    this.#functions.setSnapshot(snapshot, index, this.#shape.properties[index].snapshot(readProperty(entity, name)))
  }

  /** The count of a collection that was assigned, though the server counts; undefined where none was. */
  assignedCount(entity: T, snapshot: Snapshot | undefined): string | undefined {
    return assignedCount(this.#shape.properties, this.#functions, entity, snapshot)
  }

  /** The copy of another record's property that was assigned; undefined where none was. */
  assignedCopy(entity: T, snapshot: Snapshot | undefined): string | undefined {
    return assignedCopy(this.#shape.properties, this.#functions, entity, snapshot)
  }

  /** Value of a property, read from these bins. */
  propertyIn(name: string, bins: Bins): unknown {
    return this.#shape.properties[this.#indexOf(name)].decode(bins, undefined)
  }

  /** Stored value of a property in these bins, as a command sends it. */
  storedIn(name: string, bins: Bins): Value {
    const property = this.#shape.properties[this.#indexOf(name)] as BinProperty
    return property.encode(property.decode(bins, undefined), 0)!
  }

  /** Moves the known value of a counter by what was added to it in another record. */
  shift(snapshot: Snapshot, name: string, by: number | bigint): void {
    const index = this.#indexOf(name)
    const known = this.#functions.snapshotOf(snapshot, index) as number | bigint | undefined
    const value = typeof known === 'bigint' ? known + BigInt(by) : (known ?? 0) + Number(by)
    this.#functions.setSnapshot(snapshot, index, value)
  }

  /** The operations that bring this one property from the snapshot to what it is now. */
  changeOf(entity: T, snapshot: Snapshot, name: string, loaded: Loaded): readonly WriteOperation[] {
    return this.#changes.operations(entity, snapshot, [this.#indexOf(name)], loaded)
  }

  /** The operations that write this one property of a new record. */
  binOperations(entity: T, name: string): readonly WriteOperation[] {
    const operations: WriteOperation[] = []
    this.#shape.properties[this.#indexOf(name)]?.create(operations, readProperty(entity, name))
    return operations
  }

  #indexOf(name: string): number {
    return this.#shape.properties.findIndex((property) => property.name === name)
  }

  /** The bins to ask for when only these properties and relations are wanted: theirs, and what every instance needs. */
  binsOf(names: readonly string[]): readonly string[] {
    const { key, version } = this.model
    return this.#binsOf(new Set([...key.properties, version, ...names]))
  }

  /** The bins that tell the class and the key of a record. */
  get keyBins(): readonly string[] {
    return this.#binsOf(new Set(this.model.key.properties))
  }

  #binsOf(wanted: ReadonlySet<string | undefined>): readonly string[] {
    const { discriminator, relations } = this.model
    return [
      ...(discriminator ? [discriminator.bin] : []),
      ...this.#shape.properties.filter(({ name }) => wanted.has(name)).flatMap(({ bins }) => bins),
      ...relations.filter(({ name }) => wanted.has(name)).flatMap(({ bin }) => bin ?? []),
    ]
  }

  #hydrate(bins: Bins, loaded: Loaded, meta: RecordMeta | undefined): object {
    let entity: object
    try {
      entity = this.#functions.hydrate(bins, loaded)
    } catch (error) {
      throw unreadable(this.model, keyInBins(this.model, this.key, bins), error)
    }
    if (loaded?.parts !== undefined) hideAllUnread(this.#shape.properties, entity, loaded)
    if (meta !== undefined && this.stamps.hasMeta) this.stamps.meta(entity, meta)
    return entity
  }

  #decode(properties: readonly PropertyCodec[], bins: Bins, loaded: Loaded): readonly unknown[] {
    try {
      return properties.map((property) => (property.isAssigned ? property.decode(bins, loaded) : undefined))
    } catch (error) {
      throw unreadable(this.model, keyInBins(this.model, this.key, bins), error)
    }
  }

  #codecFor(bins: Bins): EntityCodec {
    const { bin } = this.model.discriminator!
    const value = readProperty(bins, bin)
    const codec = this.#byDiscriminator!.get(value)
    if (codec) return codec
    throw unknownClass(this.model, keyInBins(this.model, this.key, bins), bin, value)
  }
}

const isComparedIn = ({ isCompared, bins: own }: PropertyCodec, bins: ReadonlySet<string>): boolean =>
  isCompared && own.some((bin) => bins.has(bin))
