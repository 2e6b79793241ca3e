import { read } from '../plan/command.js'
import type { StoredRecord } from '../plan/outcome.js'
import type { RecordKey, UserKey } from '../plan/record-key.js'
import { callHooks } from './hooks.js'
import type { Hydrator } from './hydrator.js'
import { identityOf } from './identity-map.js'
import { LoadRequest, type OnFailed, type OnLoaded } from './load-request.js'
import type { Managed } from './managed.js'
import type { MappedClass } from './mapped-class.js'
import { covers, type Projection } from './projection.js'
import type { SessionContext } from './session-context.js'
import { otherClass, sessionClosed } from './session-errors.js'

// Cheaper than queueMicrotask, which also keeps track of the async context.
const NOW = Promise.resolve()

/** Loads entities by key: what is asked for in one tick is one batch read, and no record is read twice at a time. */
export class Loader {
  readonly #context: SessionContext
  readonly #hydrator: Hydrator
  /** Asked for in this tick, and not sent yet. */
  #waiting: LoadRequest[] = []
  /** Waiting or in flight, by class. */
  readonly #pending: Map<UserKey, LoadRequest>[] = []

  constructor(context: SessionContext, hydrator: Hydrator) {
    this.#context = context
    this.#hydrator = hydrator
  }

  /** The managed entity, or null. Nothing is sent for what the session already has. */
  find(mapped: MappedClass, key: RecordKey, projection: Projection): Promise<Managed | null> {
    return new Promise((loaded, failed) => this.#find(mapped, key, projection, loaded, failed))
  }

  /** The same for several, in the order of the keys. */
  findAll(mapped: MappedClass, keys: readonly RecordKey[], projection: Projection): Promise<(Managed | null)[]> {
    return new Promise((loaded, failed) => {
      const found = new Array<Managed | null>(keys.length)
      let left = keys.length
      if (left === 0) return loaded(found)
      keys.forEach((key, i) => {
        const take = (managed: Managed | null): void => {
          found[i] = managed
          if (--left === 0) loaded(found)
        }
        this.#find(mapped, key, projection, take, failed)
      })
    })
  }

  #find(mapped: MappedClass, key: RecordKey, projection: Projection, loaded: OnLoaded, failed: OnFailed): void {
    const known = this.#context.identity.get(mapped, key.key)
    if (known !== undefined && covers(known.loaded, projection.loaded)) {
      if (!mapped.is(known.entity)) return failed(otherClass(mapped, known))
      return loaded(known.state === 'removed' ? null : known)
    }
    const pending = (this.#pending[mapped.index] ??= new Map<UserKey, LoadRequest>())
    const id = identityOf(key.key)
    let request = pending.get(id)
    if (request === undefined || !covers(request.projection.loaded, projection.loaded)) {
      request = new LoadRequest(mapped, key, projection, this.#take, this.#forget)
      pending.set(id, request)
      // After the promises of this tick: what they ask for goes along.
      if (this.#waiting.push(request) === 1) void NOW.then(this.#sendLater)
    }
    request.wait(loaded, failed)
  }

  readonly #sendLater = (): void => process.nextTick(this.#send)

  readonly #send = (): void => {
    const requests = this.#waiting
    this.#waiting = []
    const { driver, transaction } = this.#context
    const commands = requests.map(({ mapped, key, projection }) => read(mapped.model.name, key, projection.bins))
    driver.readInto(commands, requests, transaction === undefined ? undefined : { transaction })
  }

  readonly #take = (request: LoadRequest, record: StoredRecord | null): void => {
    const { mapped, key, projection } = request
    const { identity } = this.#context
    if (identity.isClosed) throw sessionClosed()
    const isNew = identity.get(mapped, key.key) === undefined
    const managed = this.#hydrator.take(mapped, key, record, projection)
    if (managed === null || !isNew || managed.model.hooks.afterLoad.length === 0) return resolve(request, managed)
    callHooks('afterLoad', [managed]).then(
      () => resolve(request, managed),
      (error: unknown) => request.failed(error),
    )
  }

  readonly #forget = (request: LoadRequest): void => {
    const pending = this.#pending[request.mapped.index]
    const id = identityOf(request.key.key)
    // A later request for more of the same record may have taken its place.
    if (pending.get(id) === request) pending.delete(id)
  }
}

const resolve = (request: LoadRequest, managed: Managed | null): void =>
  request.resolve(managed?.state === 'removed' ? null : managed)
