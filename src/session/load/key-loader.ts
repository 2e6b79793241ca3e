import type { ReadRequest } from '../../driver/read-request.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import { afterLoadOf, runAfterLoad } from './after-load.js'
import { afterWrite, readAgain } from './beside-writes.js'
import { isInsideHook } from '../tracking/lifecycle-hooks.js'
import type { Hydrator } from './hydrator.js'
import { MOST_AT_ONCE, readInWaves } from './in-waves.js'
import { LoadRequest, type LoadReceiver, type RecordTaker } from './load-request.js'
import { tickOf, type ReadBatcher } from './read-batcher.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { MappedClass, Projection } from '../mapping/mapped-class.js'
import { covers, joinedWith, showing } from '../mapping/projection.js'
import { RecordMap } from '../tracking/identity-map.js'
import { isEntityShown } from '../tracking/soft-deleted.js'
import type { SessionContext } from '../context/session-context.js'
import { otherClass, sessionClosed } from '../context/session-errors.js'

/** Loads entities by key: what is asked for in one tick is one batch read, and no record is read twice at a time. */
export class KeyLoader implements RecordTaker {
  readonly #context: SessionContext
  readonly #hydrator: Hydrator
  readonly #tick: ReadBatcher
  /** Waiting or in flight, by the place of their class. */
  readonly #pending: (RecordMap<LoadRequest> | undefined)[]
  /** Requests for a part of a record, or for more than one record, that are still to be sent: until then they may become requests for more. */
  #partial: Set<LoadRequest> | undefined

  constructor(context: SessionContext, hydrator: Hydrator) {
    this.#context = context
    this.#hydrator = hydrator
    this.#tick = tickOf(context)
    this.#pending = context.classes.places.slice()
  }

  /** The managed entities in the order of the keys, or null. */
  findAll(
    mapped: MappedClass,
    keys: readonly RecordKey[],
    projection: Projection,
    signal?: AbortSignal,
    isOwn = false,
  ): Promise<(ManagedEntity | null)[]> {
    if (keys.length <= MOST_AT_ONCE) return this.#findWave(mapped, keys, projection, isOwn)
    return readInWaves(keys, (some) => this.#findWave(mapped, some, projection, isOwn), signal)
  }

  #findWave(
    mapped: MappedClass,
    keys: readonly RecordKey[],
    projection: Projection,
    isOwn: boolean,
  ): Promise<(ManagedEntity | null)[]> {
    return new Promise((resolve, reject) => {
      if (keys.length === 0) return resolve([])
      const receiver = new AllLoaded(keys.length, resolve, reject, isOwn)
      for (let i = 0; i < keys.length; i++) this.#find(mapped, keys[i], projection, receiver, i, false)
    })
  }

  get #isInsideHook(): boolean {
    return this.#context.classes.hasHooks && isInsideHook(this.#context.identity)
  }

  /** Loads one entity into a receiver. */
  findOne(mapped: MappedClass, key: RecordKey, projection: Projection, receiver: LoadReceiver): void {
    this.#find(mapped, key, projection, receiver, 0, true)
  }

  /** Nothing is sent for what the session already has. */
  #find(
    mapped: MappedClass,
    key: RecordKey,
    wanted: Projection,
    receiver: LoadReceiver,
    place: number,
    mayBeAlone: boolean,
  ): void {
    const { identity } = this.#context
    const known = identity.get(mapped, key.key)
    const hook = known?.mapped.calls('afterLoad') === true ? afterLoadOf(known) : undefined
    // A hook that waited for a hook might wait for itself: it gets the entity as it is.
    if (hook !== undefined && !this.#isInsideHook)
      return this.#findAfterHook(hook, mapped, key, wanted, receiver, place, mayBeAlone)
    if (known !== undefined && covers(known.loaded, wanted.loaded)) {
      if (!mapped.is(known.entity)) return receiver.failed(otherClass(mapped, known))
      return receiver.loaded(isHidden(known, wanted) ? null : known, place)
    }
    const isOwn = receiver.isOwn === true || this.#isInsideHook
    if (known !== undefined && !isOwn && this.#findAfterWrite(known, mapped, key, wanted, receiver, place)) return
    const projection = known === undefined ? wanted : showing(joinedWith(known.loaded, wanted, mapped), wanted.deleted)
    const pending = (this.#pending[mapped.place] ??= new RecordMap())
    const same = pending.get(key.key)
    if (same !== undefined) {
      // A load in a hook or for a flush must not wait: those it would wait for may wait for that.
      const mayJoin = !isOwn || same.isOwn || known === undefined
      if (mayJoin && this.#canServe(same, mapped, projection)) {
        if (this.#isInsideHook) same.isForHook = true
        same.isOwn ||= isOwn
        return same.alsoFor(receiver, place)
      }
      if (!isOwn) return this.#findAfter(same, mapped, key, projection, receiver, place)
    }
    const request = new LoadRequest(mapped, key, projection, this, receiver, place, identity)
    if (this.#isInsideHook) request.isForHook = request.isOwn = true
    pending.set(key.key, request)
    this.#context.reading.begin()
    if (projection.loaded === undefined && mapped.shards === undefined) this.#tick.add(request, identity, mayBeAlone)
    else this.#addPartial(request)
  }

  // Closures that few loads need are made by methods of their own: where a function makes one, every call of it makes room for what that holds.

  #findAfterHook(
    hook: Promise<unknown>,
    mapped: MappedClass,
    key: RecordKey,
    wanted: Projection,
    receiver: LoadReceiver,
    place: number,
    mayBeAlone: boolean,
  ): void {
    const again = (): void => this.#find(mapped, key, wanted, receiver, place, mayBeAlone)
    void hook.then(again, (error: unknown) => receiver.failed(error))
  }

  #findAfterWrite(
    known: ManagedEntity,
    mapped: MappedClass,
    key: RecordKey,
    wanted: Projection,
    receiver: LoadReceiver,
    place: number,
  ): boolean {
    return afterWrite(known, this.#context, () => this.#findLater(mapped, key, wanted, receiver, place))
  }

  /** Reads all that is wanted, or does so from now on, because it was not sent yet. */
  #canServe(request: LoadRequest, mapped: MappedClass, projection: Projection): boolean {
    if (request.mapped !== mapped || request.projection.deleted !== projection.deleted) return false
    if (covers(request.projection.loaded, projection.loaded)) return true
    if (this.#partial?.has(request) !== true) return false
    request.widen(projection)
    return true
  }

  /** Waits for the other request; what it leaves out is read after it. */
  #findAfter(
    other: LoadRequest,
    mapped: MappedClass,
    key: RecordKey,
    projection: Projection,
    receiver: LoadReceiver,
    place: number,
  ): void {
    const again = (): void => this.#findLater(mapped, key, projection, receiver, place)
    other.alsoFor({ loaded: again, failed: again }, 0)
  }

  #findLater(mapped: MappedClass, key: RecordKey, wanted: Projection, receiver: LoadReceiver, place: number): void {
    if (this.#context.identity.isClosed) receiver.failed(sessionClosed())
    else this.#find(mapped, key, wanted, receiver, place, false)
  }

  #addPartial(request: LoadRequest): void {
    if (this.#partial !== undefined) return void this.#partial.add(request)
    this.#partial = new Set([request])
    this.#tick.join(() => this.#takePartial(), this.#context.identity)
  }

  #takePartial(): Iterable<ReadRequest> {
    const requests = [...this.#partial!]
    this.#partial = undefined
    return requests.flatMap((request) => [request, ...request.along()])
  }

  take(request: LoadRequest, record: StoredRecord | null): void {
    const { mapped, recordKey: key, projection } = request
    const { identity } = this.#context
    if (identity.isClosed) throw sessionClosed()
    const known = identity.get(mapped, key.key)
    if (known?.loaded !== undefined && request.isOutdated(known, identity.writes))
      return this.#readAgain(request, known)
    const managed = this.#hydrator.take(mapped, key, record, projection, known)
    if (managed === null || !managed.mapped.calls('afterLoad')) return resolve(request, managed)
    const hook = known === undefined ? runAfterLoad(managed) : request.isForHook ? undefined : afterLoadOf(managed)
    if (hook === undefined) resolve(request, managed)
    else resolveAfter(hook, request, managed)
  }

  #readAgain(request: LoadRequest, known: ManagedEntity): void {
    readAgain(request, known, this.#context.identity.writes, (mapped, key, wanted, receiver, place) =>
      this.#findLater(mapped, key, wanted, receiver, place),
    )
  }

  forget(request: LoadRequest): void {
    // A later request for more of the same record may have taken its place.
    this.#pending[request.mapped.place]?.delete(request.recordKey.key, request)
    this.#context.reading.end()
  }
}

const resolve = (request: LoadRequest, managed: ManagedEntity | null): void =>
  request.resolve(managed !== null && isHidden(managed, request.projection) ? null : managed)

function resolveAfter(hook: Promise<unknown>, request: LoadRequest, managed: ManagedEntity): void {
  hook.then(
    () => resolve(request, managed),
    (error: unknown) => request.failed(error),
  )
}

/** To be deleted by the session, or deleted softly and not asked for. */
const isHidden = (managed: ManagedEntity, { deleted }: Projection): boolean =>
  managed.shownState === 'removed' ||
  ((managed.model.deletedAt ?? deleted) !== undefined && !isEntityShown(managed, deleted))

/** Waits for all of several loads. */
class AllLoaded implements LoadReceiver {
  readonly #found: (ManagedEntity | null)[]
  readonly #resolve: (found: (ManagedEntity | null)[]) => void
  readonly failed: (error: unknown) => void
  readonly isOwn: boolean
  #left: number

  constructor(
    count: number,
    resolve: (found: (ManagedEntity | null)[]) => void,
    failed: (error: unknown) => void,
    isOwn: boolean,
  ) {
    this.isOwn = isOwn
    this.#found = new Array<ManagedEntity | null>(count)
    this.#left = count
    this.#resolve = resolve
    this.failed = failed
  }

  loaded(managed: ManagedEntity | null, place: number): void {
    this.#found[place] = managed
    if (--this.#left === 0) this.#resolve(this.#found)
  }
}
