import { readProperty, writeProperty, type Loaded } from '../../codec/index.js'
import { DELETING_BIN } from '../../model/index.js'
import type { Bins } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { ReadBins } from '../../relations/attach.js'
import { rememberNotes } from '../../relations/write/record-store.js'
import { ManagedEntity } from '../tracking/managed-entity.js'
import { StoredState } from '../tracking/stored-state.js'
import type { MappedClass, Projection } from '../mapping/mapped-class.js'
import { checkRecorded, showRecorded } from '../record-access.js'
import { asRead, loadedWith, missingOf } from '../mapping/projection.js'
import type { SessionContext } from '../context/session-context.js'
import { otherClass } from '../context/session-errors.js'
import { changedTtl, shownTtl } from '../flush/plan/record-write.js'
import type { KeyValue, Tenant } from '../../keys/index.js'
import { identityOf } from '../tracking/identity-map.js'

/** Relations of entities that become managed. */
export interface RelationHydration {
  /** Gives the entity its Refs and Collections. */
  attach(managed: ManagedEntity, stored?: ReadBins): void
  /** Throws where a relation cannot be read. */
  check(managed: ManagedEntity, stored: ReadBins): void
  /** Adds what an entity that was loaded in part did not know of its relations. */
  complete(managed: ManagedEntity, stored: ReadBins): void
}

/** Turns records that were read into managed entities. */
export class Hydrator {
  readonly #context: SessionContext
  readonly #relations: RelationHydration

  constructor(context: SessionContext, relations: RelationHydration) {
    this.#context = context
    this.#relations = relations
  }

  /** The entity of the record; null when there is none. One that the session already has stays, and only what it lacked is added. */
  take(
    mapped: MappedClass,
    key: RecordKey,
    found: StoredRecord | null,
    projection: Projection,
    known: ManagedEntity | undefined,
  ): ManagedEntity | null {
    if (isGone(found) || !mapped.shows(found.bins, projection.deleted)) return null
    const record = asRead(found, projection, mapped)
    if (known === undefined) return this.#add(mapped, key, record, projection)
    if (!mapped.is(known.entity)) throw otherClass(mapped, known)
    if (known.loaded !== undefined) this.#complete(known, record, projection)
    return known
  }

  /** Reads the record into an entity that the session has; what was changed there is lost. Where it cannot be read, nothing is. */
  refresh(managed: ManagedEntity, record: StoredRecord): void {
    const stored = { bins: record.bins, isRead: () => true, isAlone: true }
    this.#check(managed, stored)
    managed.mapped.codec.fill(managed.entity, record.bins, undefined, record)
    managed.confirmStored()
    this.#relations.attach(managed, stored)
    restoreKey(managed.mapped, managed.entity, managed.key, managed.home.tenant)
    managed.written(storedNow(managed, undefined, false, record.bins))
  }

  /** Makes an entity new again whose record is gone, and what its relations hold. */
  startAnew(managed: ManagedEntity): void {
    managed.startAnew()
    this.#relations.attach(managed)
  }

  /** An entity of a record that was not read: nothing but its key is known. */
  takeUnread(mapped: MappedClass, key: RecordKey): ManagedEntity {
    const { identity } = this.#context
    const managed = identity.add(this.makeUnread(mapped, key))
    identity.announce(managed)
    return managed
  }

  /** As `takeUnread`, for a record that the session has another entity of. */
  makeUnread(mapped: MappedClass, key: RecordKey): ManagedEntity {
    const { tenant } = this.#context.identity
    const known = mapped.keyAlone
    const { discriminator } = mapped.model
    const entity = mapped.codec.hydrate(discriminator ? { [discriminator.bin]: discriminator.value! } : {}, known)
    mapped.codec.key.assign(entity, mapped.codec.key.scheme.fromStored(key.key, tenant))
    return this.#make(mapped, entity, key, known, NOTHING_READ, true)
  }

  #add(mapped: MappedClass, key: RecordKey, record: StoredRecord, projection: Projection): ManagedEntity {
    const entity = mapped.codec.hydrate(record.bins, projection.loaded, record)
    const own = mapped.model.discriminator === undefined ? mapped : this.#context.classes.ofEntity(entity)
    const stored = own.relations.length === 0 ? undefined : readBins(record, projection)
    if (own.noteBins.length > 0) rememberNotes(entity, record.bins, own.noteBins)
    const managed = this.#context.identity.add(
      this.#make(own, entity, key, projection.loaded, stored, false, record.bins),
    )
    // Otherwise when the hook has ended.
    if (own.model.hooks.afterLoad.length === 0) this.#context.identity.announce(managed)
    return managed
  }

  #make(
    mapped: MappedClass,
    entity: object,
    key: RecordKey,
    loaded: Loaded,
    stored?: ReadBins,
    isUnread = false,
    image?: Bins,
  ): ManagedEntity {
    const { identity } = this.#context
    const managed = new ManagedEntity(mapped, entity, key, identity, 'stored')
    if (stored !== undefined) this.#relations.attach(managed, stored)
    restoreKey(mapped, entity, key, identity.tenant)
    managed.written(storedNow(managed, loaded, isUnread, image))
    return managed
  }

  #complete(managed: ManagedEntity, record: StoredRecord, projection: Projection): void {
    const { loaded } = projection
    const have = managed.loaded!
    const stored = readBins(record, projection)
    this.#check(managed, stored)
    const missing = missingOf(have, managed.mapped, loaded)
    checkRecorded(managed, missing)
    managed.mapped.codec.complete(managed.entity, managed.snapshot!, record.bins, missing, have, loaded)
    const { version: property } = managed.model
    const isVersionRead = property !== undefined && missing.has(property)
    const version = isVersionRead ? (readProperty(managed.entity, property) as number) : managed.version
    const ttl = managed.isUnread ? this.#showMeta(managed, record) : managed.ttl
    const all = loaded === undefined ? undefined : loadedWith(have, missing, loaded)
    managed.learn(managed.stored!.completed(all, version, ttl))
    showRecorded(managed, missing)
    this.#relations.complete(managed, stored)
  }

  /** Asked before anything is taken over: half of a record would look like changes. */
  #check(managed: ManagedEntity, stored: ReadBins): void {
    managed.mapped.codec.checkClass(stored.bins)
    this.#relations.check(managed, stored)
  }

  /** Shows metadata of the record, and returns its time to live; one that was set before stays as a change. */
  #showMeta(managed: ManagedEntity, record: StoredRecord): number | null | undefined {
    const { entity, model, mapped } = managed
    const { ttlProperty } = model
    const wanted = changedTtl(managed) === undefined ? undefined : shownTtl(managed, ttlProperty!)
    if (mapped.codec.stamps.hasMeta) mapped.codec.stamps.meta(entity, record)
    if (ttlProperty === undefined) return managed.ttl
    if (wanted !== undefined) writeProperty(entity, ttlProperty, wanted)
    return record.ttl
  }
}

/** The record as the entity shows it, which has just been read. */
function storedNow(managed: ManagedEntity, loaded: Loaded, isUnread = false, bins?: Bins): StoredState {
  const { entity, model, mapped } = managed
  const version = model.version === undefined ? undefined : (readProperty(entity, model.version) as number | undefined)
  const neverExpires = isUnread ? undefined : null
  const ttl = model.ttlProperty === undefined ? undefined : (shownTtl(managed, model.ttlProperty) ?? neverExpires)
  const snapshot = mapped.codec.snapshot(entity)
  const image = model.history !== undefined && loaded === undefined ? bins : undefined
  return new StoredState(snapshot, loaded, version, ttl, managed.stored?.unmeasured, isUnread, false, image)
}

const NOTHING_READ: ReadBins = Object.freeze({ bins: Object.freeze({}), isRead: () => false })

/** Relation bins of a read with this projection. */
export function readBins({ bins }: StoredRecord, { bins: wanted }: Projection): ReadBins {
  return { bins, isRead: (name) => wanted === 'all' || wanted.includes(name) }
}

/** True also while a cascading delete of it is under way. */
export function isGone(record: StoredRecord | null): record is null {
  // Beside a read of a map the server answers for bins that are not there, too.
  return record === null || (record.bins[DELETING_BIN] ?? null) !== null
}

/**
 * The key that a record was asked for by is the truth: whoever wrote the record may have left out the bins of its key, or put
 * something else there.
 */
export function restoreKey(mapped: MappedClass, entity: object, { key }: RecordKey, tenant: Tenant | undefined): void {
  if (mapped.codec.key.isShown(entity, key)) return
  const asked = mapped.codec.key.scheme.fromStored(key, tenant)
  if (!isSame(mapped.codec.key.tryKeyOf(entity), asked)) mapped.codec.key.assign(entity, asked)
}

const isSame = (shown: KeyValue | null, asked: KeyValue): boolean =>
  shown !== null && identityOf(shown) === identityOf(asked)
