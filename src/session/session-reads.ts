import { readProperty } from '../codec/index.js'
import { NotFoundError } from '../errors/index.js'
import { describeKey, type KeyValue } from '../keys/index.js'
import type { Collection, EntityClass, OutsideTransaction, SliceParts } from '../model/index.js'
import { SessionQuery } from '../query/session-query.js'
import {
  checkAtOptions,
  checkEntityAlone,
  checkKeys,
  checkLoadOptions,
  checkSessionQueryOptions,
} from './context/check-arguments.js'
import { RecordHandle } from '../records/record-handle.js'
import { RecordAccess } from './record-access.js'
import type { ManagedEntity } from './tracking/managed-entity.js'
import { partHome } from './mapping/part-owner.js'
import { keyOfEnds, unsentLink } from './load/link-ends.js'
import { LoadedOrMissing, OneLoaded } from './load/load-request.js'
import { pointingTo } from './load/inverse-lookup.js'
import type { AtOptions, KeyInput, LoadOneOptions, LoadOptions, RelationPath } from './context/session-types.js'
import { ManagedSource } from './query/managed-source.js'
import { checkLoadRange, keysCovering, TimeSlices, type LoadRangeOptions } from './load/time-slices.js'
import { RecordHistory } from './history/history.js'
import { withoutHistory } from './context/session-errors.js'
import { findFrom } from './archive/load-archived.js'
import { startWalk } from './walk/start-walk.js'
import type { Walk } from './walk/walk.js'
import type { WalkOptions } from './walk/walk-types.js'
import { checkExpectedVersion } from './tracking/assigned-values.js'
import type { SessionQueryOptions } from './context/option-types.js'
import { SessionBase } from './session-core.js'

/** Calls of a session that read. */
export class SessionReads extends SessionBase {
  /** The entity under that key; throws NotFoundError when there is none. */
  load<T extends object>(entityClass: EntityClass<T>, key: KeyInput<T>, options?: LoadOneOptions<T>): Promise<T> {
    if ((options?.version ?? options?.from) !== undefined) return this.#loadSeen(entityClass, key, options!)
    // Makes one promise for the whole call: each one between would cost a single load more than all else that is done for it.
    return new Promise((resolve, failed) => {
      const receiver = new LoadedOrMissing(this.core, entityClass, key, resolve, failed)
      this.core.loads.findOne(this.core.toLoad(entityClass), key, options, receiver)
    })
  }

  async #loadSeen<T extends object>(
    entityClass: EntityClass<T>,
    key: KeyInput<T>,
    options: LoadOneOptions<T>,
  ): Promise<T> {
    const entity = await this.find(entityClass, key, options)
    if (entity === null) throw this.core.notFound(entityClass, [key])
    return entity
  }

  /** The entity under that key, or null. */
  find<T extends object>(
    entityClass: EntityClass<T>,
    key: KeyInput<T>,
    options?: LoadOneOptions<T>,
  ): Promise<T | null> {
    if (options?.from !== undefined) return this.findMany(entityClass, [key], options).then(([found]) => found)
    if (options?.version !== undefined) return this.#findSeen(entityClass, key, options)
    return new Promise((resolve, failed) => {
      const loaded = (managed: ManagedEntity | null): void => resolve(managed === null ? null : (managed.entity as T))
      this.core.loads.findOne(this.core.toLoad(entityClass), key, options, new OneLoaded(loaded, failed))
    })
  }

  /**
   * The link record between two entities, each of them given or by its key, in the order of the record's key; null when there is none.
   *
   * @example
   * const doesFollow = (await session.linkOf(Follow, 'alice', 'bob')) !== null
   */
  async linkOf<L extends object>(
    linkClass: EntityClass<L>,
    from: object | KeyValue,
    to: object | KeyValue,
    options?: LoadOneOptions<L>,
  ): Promise<L | null> {
    const mapped = this.core.toLoad(linkClass)
    const { reader } = this.core.loads
    const parts = keyOfEnds(mapped, [from, to], reader)
    const unsent = options === undefined ? unsentLink(mapped, parts, reader) : undefined
    return unsent === undefined ? this.find(linkClass, parts as KeyInput<L>, options) : (unsent as L | null)
  }

  async #findSeen<T extends object>(
    entityClass: EntityClass<T>,
    key: KeyInput<T>,
    { version, ...options }: LoadOneOptions<T>,
  ): Promise<T | null> {
    const entity = await this.find(entityClass, key, options)
    if (entity !== null && version !== undefined) checkExpectedVersion(this.core.work.entities.get(entity), version)
    return entity
  }

  /** The entities in the order of the keys; throws NotFoundError, which names what is missing. */
  async loadMany<T extends object>(
    entityClass: EntityClass<T>,
    keys: readonly KeyInput<T>[],
    options?: LoadOptions<T>,
  ): Promise<T[]> {
    const found = await this.findMany(entityClass, keys, options)
    if (found.includes(null)) {
      const missing = keys.filter((_, i) => found[i] === null)
      throw this.core.notFound(entityClass, missing)
    }
    return found as T[]
  }

  /** The entities in the order of the keys, null where there is none. */
  async findMany<T extends object>(
    entityClass: EntityClass<T>,
    keys: readonly KeyInput<T>[],
    options?: LoadOptions<T>,
  ): Promise<(T | null)[]> {
    checkKeys(keys)
    checkLoadOptions(options)
    const { from, ...rest } = options ?? {}
    const mapped = this.core.toLoad(entityClass)
    if (from !== undefined)
      return findFrom(mapped, keys, { ...rest, from }, this.core.context, (some) =>
        this.findMany(entityClass, some, rest),
      )
    const found = await this.core.loads.find(mapped, keys, options)
    return found.map((managed) => (managed === null ? null : (managed.entity as T)))
  }

  /**
   * The entities of a class with a date in its key, in the order of time: those that are stored of the slices (hours, days, months) from
   * `from` up to but not including `to`. `parts` are the other parts of the key. Awaited, it gives all of them; iterated over, it reads
   * 1,000 at a time.
   *
   * @example
   * const week = await session.loadRange(SensorDay, { sensor: 7 }, { from: new Date('2024-05-01'), to: new Date('2024-05-08') })
   */
  loadRange<T extends object>(
    entityClass: EntityClass<T>,
    parts: SliceParts<T>,
    range: LoadRangeOptions<T>,
  ): TimeSlices<T> {
    checkLoadRange(range)
    const keys = keysCovering(this.core.toLoad(entityClass), parts, range, this.core.context.identity.tenant)
    const { only, with: paths, signal, outsideTransaction } = range
    const options = { only, with: paths, signal, outsideTransaction }
    checkLoadOptions(options)
    return new TimeSlices(keys, (some) => this.findMany(entityClass, some as readonly KeyInput<T>[], options))
  }

  /**
   * A record that need not be loaded, by class and key or by a managed entity. Its counters, lists, sets, maps and collections can be
   * asked and changed; the next flush sends the changes. With `create`, a change makes the record where it is missing.
   *
   * @example
   * session.at(User, 'alice').list('log').append('signed in')
   */
  at<T extends object>(entity: T): RecordHandle<T>
  at<T extends object>(entityClass: EntityClass<T>, key: KeyInput<T>, options?: AtOptions): RecordHandle<T>
  at<T extends object>(target: T | EntityClass<T>, key?: KeyInput<T>, options?: AtOptions): RecordHandle<T> {
    this.core.checkOpen()
    checkAtOptions(options)
    const { loads } = this.core
    const { codecs } = this.core.context.classes
    const { build } = this.core.context.driver.capabilities
    if (typeof target !== 'function') {
      checkEntityAlone('at', key, options)
      const managed = this.core.work.entities.get(target)
      return new RecordHandle<T>(
        new RecordAccess(managed.mapped, codecs, this.core, build, () => this.core.work.entities.get(target)),
      )
    }
    const mapped = this.core.mapped(target)
    const find = (): ManagedEntity => {
      this.core.checkOpen()
      const known = loads.unread(mapped, key!)
      const managed = known.state === 'removed' ? this.core.work.afterDelete(known) : known
      if (options?.create === true && managed.stored !== undefined) managed.learn(managed.stored.creating())
      return managed
    }
    return new RecordHandle<T>(new RecordAccess(mapped, codecs, this.core, build, find))
  }

  /**
   * Earlier states of a record of a class with `@History`, also of one that is deleted.
   *
   * @example
   * const before = await session.history(Contract, 'c1').at(new Date('2024-05-01'))
   */
  history<T extends object>(entity: T): RecordHistory<T>
  history<T extends object>(entityClass: EntityClass<T>, key: KeyInput<T>): RecordHistory<T>
  history<T extends object>(target: T | EntityClass<T>, key?: KeyInput<T>): RecordHistory<T> {
    this.core.checkMayLoad()
    const { context } = this.core
    if (typeof target !== 'function') checkEntityAlone('history', key)
    const managed = typeof target === 'function' ? undefined : this.core.work.entities.get(target)
    const mapped = managed?.mapped ?? this.core.mapped(target as EntityClass<T>)
    if (mapped.model.history === undefined) throw withoutHistory(mapped)
    return new RecordHistory(mapped, managed?.key ?? mapped.recordKeyOf(key, context.identity.tenant), context)
  }

  /**
   * The consolidated child with that id, where the id holds the key of its record: `{regionId}:{storeId}`. Neither the record's other
   * children nor its bins are read.
   */
  async findPart<T extends object>(partClass: EntityClass<T>, id: KeyInput<T>): Promise<T | null> {
    this.core.checkMayLoad()
    const { owner, key, relation, id: partId } = partHome(partClass, id, this.core.context.classes)
    const [managed] = await this.core.loads.find(owner, [key], { only: [] })
    return managed === null ? null : (readProperty(managed.entity, relation) as Collection<T>).get(partId)
  }

  /** The consolidated child with that id; throws NotFoundError when there is none. */
  async loadPart<T extends object>(partClass: EntityClass<T>, id: KeyInput<T>): Promise<T> {
    const part = await this.findPart(partClass, id)
    if (part !== null) return part
    const { owner, id: key } = partHome(partClass, id, this.core.context.classes)
    throw new NotFoundError(`There is no ${partClass.name} ${describeKey(key)} in any ${owner.model.name}.`, {
      className: partClass.name,
      key,
    })
  }

  /**
   * The entities whose consolidated children point to the target, found by one index query and streamed: every post where this user
   * commented is `session.pointingTo(Post, 'comments.author', user)`.
   */
  async *pointingTo<T extends object>(
    entityClass: EntityClass<T>,
    path: string,
    target: object | KeyValue,
    options: OutsideTransaction = {},
  ): AsyncGenerator<T> {
    const { model } = this.core.mapped(entityClass)
    const { identity, classes } = this.core.context
    const reader = this.core.loads.readerFor(options)
    const lookup = pointingTo(model, path, target, reader, identity.tenant, classes.model)
    for await (const { found } of reader.foundBy(lookup)) {
      for (const { entity } of found) yield entity as T
    }
  }

  /**
   * A query for the records of a class, by conditions. The session manages what it finds: an entity that it already
   * has stays as it is there.
   *
   * @example
   * for await (const listing of session.query(Listing).where({ city: 'Bern' }).with('agent')) listing.price += 10
   */
  query<T extends object>(
    entityClass: EntityClass<T>,
    options: SessionQueryOptions = {},
  ): SessionQuery<T, RelationPath<T>> {
    checkSessionQueryOptions(options)
    const mapped = this.core.toLoad(entityClass)
    return new SessionQuery(
      new ManagedSource<T>(mapped, this.core.context, this.core.loads, () => this.core.checkMayLoad(), options),
    )
  }

  /**
   * A way along relations from entities of this session, or from a class and keys: one batch read for each hop, whatever its width. An
   * entity is reached once, at the first hop that leads to it.
   *
   * @example
   * const nearby = await session.walk(alice).out('follows').out('follows', { to: { city: 'Bern' } }).entities()
   */
  walk<T extends object>(start: T | readonly T[], options?: WalkOptions): Walk<T>
  walk<T extends object>(
    entityClass: EntityClass<T>,
    key: KeyInput<T> | readonly KeyInput<T>[],
    options?: WalkOptions,
  ): Walk<T>
  walk<T extends object>(...args: readonly unknown[]): Walk<T> {
    this.core.checkMayLoad()
    const checkMayLoad = (): void => this.core.checkMayLoad()
    const managed = (entity: object): ManagedEntity => this.core.work.entities.get(entity)
    return startWalk<T>({ context: this.core.context, loads: this.core.loads, checkMayLoad, managed }, args)
  }
}
