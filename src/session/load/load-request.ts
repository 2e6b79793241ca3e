import { ReadRequest } from '../../driver/read-request.js'
import type { EntityClass } from '../../model/index.js'
import { read } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import { CompanionReads } from '../counters/companion-reads.js'
import type { KeyInput } from '../context/session-types.js'
import type { OpenWrites } from '../tracking/entity-home.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { MappedClass, Projection } from '../mapping/mapped-class.js'
import { bothOf, showing } from '../mapping/projection.js'

/** Receiver of a load's result; `place` is returned as it was given. Must not throw. */
export interface LoadReceiver {
  loaded(managed: ManagedEntity | null, place: number): void
  failed(error: unknown): void
  /** Set where the session's own work waits for it: it may not wait for that. */
  readonly isOwn?: boolean
}

/** Receiver that calls functions. */
export class OneLoaded implements LoadReceiver {
  readonly loaded: (managed: ManagedEntity | null) => void
  readonly failed: (error: unknown) => void

  constructor(loaded: (managed: ManagedEntity | null) => void, failed: (error: unknown) => void) {
    this.loaded = loaded
    this.failed = failed
  }
}

interface Missing {
  notFound(entityClass: EntityClass, keys: readonly KeyInput[]): Error
}

/** Receiver of a load that fails where there is no record. */
export class LoadedOrMissing<T extends object> implements LoadReceiver {
  readonly #missing: Missing
  readonly #class: EntityClass<T>
  readonly #key: KeyInput<T>
  readonly #resolve: (entity: T) => void
  readonly failed: (error: unknown) => void

  constructor(
    missing: Missing,
    entityClass: EntityClass<T>,
    key: KeyInput<T>,
    resolve: (entity: T) => void,
    failed: (error: unknown) => void,
  ) {
    this.#missing = missing
    this.#class = entityClass
    this.#key = key
    this.#resolve = resolve
    this.failed = failed
  }

  loaded(managed: ManagedEntity | null): void {
    if (managed === null) this.failed(this.#missing.notFound(this.#class, [this.#key]))
    else this.#resolve(managed.entity as T)
  }
}

/** Turns the record that was read into an entity. */
export interface RecordTaker {
  /** Throws when it cannot; otherwise resolves the request, now or later. */
  take(request: LoadRequest, record: StoredRecord | null): void
  forget(request: LoadRequest): void
}

/** A read in flight, shared by all callers that ask for the same record. */
export class LoadRequest extends ReadRequest {
  readonly mapped: MappedClass
  #projection: Projection
  /** A hook waits for it, so it may not wait for hooks that are already under way. */
  isForHook = false
  /** A hook or a flush waits for it, so it may not wait for writes that are under way. */
  isOwn: boolean
  /** Moment of the session in which it was begun. */
  readonly #begun: number
  readonly #taker: RecordTaker
  readonly #first: LoadReceiver
  readonly #place: number
  #companions: CompanionReads | undefined
  #others: { readonly receiver: LoadReceiver; readonly place: number }[] | undefined

  constructor(
    mapped: MappedClass,
    key: RecordKey,
    projection: Projection,
    taker: RecordTaker,
    first: LoadReceiver,
    place: number,
    { session, moment }: { readonly session: number; readonly moment: number },
  ) {
    super(read(mapped.model.name, key, projection.bins, projection.operations), session)
    this.#begun = moment
    this.isOwn = first.isOwn === true
    this.mapped = mapped
    this.#projection = projection
    this.#taker = taker
    this.#first = first
    this.#place = place
  }

  get recordKey(): RecordKey {
    return this.command.key
  }

  get projection(): Projection {
    return this.#projection
  }

  /** Asks for this as well; must not have been sent. */
  widen(projection: Projection): void {
    this.#projection = showing(bothOf(this.#projection, projection, this.mapped), this.#projection.deleted)
    const { bins, operations } = this.#projection
    this.command = read(this.mapped.model.name, this.recordKey, bins, operations)
  }

  /** True where the record may have been read before a write of the entity that has ended since, or is under way. */
  isOutdated(managed: ManagedEntity, writes: OpenWrites<ManagedEntity> | undefined): boolean {
    return managed.wasWrittenSince(this.#begun) || (!this.isOwn && writes?.endOfWrite(managed) !== undefined)
  }

  alsoFor(receiver: LoadReceiver, place: number): void {
    ;(this.#others ??= []).push({ receiver, place })
  }

  /** Reads of the companions of sharded counters, which are sent with this one. */
  along(): readonly ReadRequest[] {
    const { shards, model } = this.mapped
    const commands = shards?.reads(model.name, this.recordKey, this.#projection.loaded) ?? []
    if (commands.length === 0) return []
    this.#companions = new CompanionReads(commands)
    return this.#companions.requests
  }

  found(record: StoredRecord | null): void {
    if (record === null || this.#companions === undefined) return this.#take(record)
    const take = (companions: readonly (StoredRecord | null)[]): void =>
      this.#take(this.mapped.shards!.withTotals(record, this.#projection.loaded, companions))
    this.#companions.whenRead(take, (error) => this.failed(error))
  }

  #take(record: StoredRecord | null): void {
    try {
      this.#taker.take(this, record)
    } catch (error) {
      this.failed(error)
    }
  }

  /** Leaves all who wait for it to another request. */
  handOver(find: (receiver: LoadReceiver, place: number) => void): void {
    this.#taker.forget(this)
    find(this.#first, this.#place)
    this.#others?.forEach(({ receiver, place }) => find(receiver, place))
  }

  resolve(managed: ManagedEntity | null): void {
    this.#taker.forget(this)
    this.#first.loaded(managed, this.#place)
    this.#others?.forEach(({ receiver, place }) => receiver.loaded(managed, place))
  }

  failed(error: unknown): void {
    this.#taker.forget(this)
    this.#first.failed(error)
    this.#others?.forEach(({ receiver }) => receiver.failed(error))
  }
}
