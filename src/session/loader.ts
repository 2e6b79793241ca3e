import type { StoredRecord } from '../plan/outcome.js'
import { read } from '../plan/command.js'
import type { RecordKey, UserKey } from '../plan/record-key.js'
import { callHooks } from './hooks.js'
import type { Hydrator } from './hydrator.js'
import { identityOf } from './identity-map.js'
import type { Managed } from './managed.js'
import type { MappedClass } from './mapped-class.js'
import { covers, type Projection } from './projection.js'
import type { SessionContext } from './session-context.js'
import { otherClass, sessionClosed } from './session-errors.js'

interface Request {
  readonly mapped: MappedClass
  readonly key: RecordKey
  readonly projection: Projection
  readonly found: Promise<Managed | null>
  readonly resolve: (managed: Managed | null) => void
  readonly reject: (error: unknown) => void
}

// Cheaper than queueMicrotask, which also keeps track of the async context.
const NOW = Promise.resolve()

/** Loads entities by key: what is asked for in one tick is one batch read, and no record is read twice at a time. */
export class Loader {
  readonly #context: SessionContext
  readonly #hydrator: Hydrator
  /** Asked for in this tick, and not sent yet. */
  #waiting: Request[] = []
  /** Waiting or in flight. */
  readonly #pending: Map<UserKey, Request>[] = []

  constructor(context: SessionContext, hydrator: Hydrator) {
    this.#context = context
    this.#hydrator = hydrator
  }

  /** The managed entity, or null. Nothing is sent for what the session already has. */
  find(mapped: MappedClass, key: RecordKey, projection: Projection): Promise<Managed | null> {
    const known = this.#context.identity.get(mapped, key.key)
    if (known !== undefined && covers(known.loaded, projection.loaded)) return this.#known(known, mapped)
    const pending = this.#pending[mapped.index]?.get(identityOf(key.key))
    if (pending !== undefined && covers(pending.projection.loaded, projection.loaded)) return pending.found
    return this.#ask(mapped, key, projection)
  }

  #known(known: Managed, mapped: MappedClass): Promise<Managed | null> {
    if (!mapped.is(known.entity)) return Promise.reject(otherClass(mapped, known))
    return Promise.resolve(known.state === 'removed' ? null : known)
  }

  #ask(mapped: MappedClass, key: RecordKey, projection: Projection): Promise<Managed | null> {
    let resolve!: Request['resolve']
    let reject!: Request['reject']
    const found = new Promise<Managed | null>((onFound, onError) => {
      resolve = onFound
      reject = onError
    })
    const request: Request = { mapped, key, projection, found, resolve, reject }
    const pending = (this.#pending[mapped.index] ??= new Map<UserKey, Request>())
    pending.set(identityOf(key.key), request)
    // After the promises of this tick: what they ask for goes along.
    if (this.#waiting.push(request) === 1) void NOW.then(this.#sendLater)
    return found
  }

  readonly #sendLater = (): void => process.nextTick(this.#send)

  readonly #send = (): void => {
    const requests = this.#waiting
    this.#waiting = []
    const { driver, transaction } = this.#context
    const commands = requests.map(({ mapped, key, projection }) => read(mapped.model.name, key, projection.bins))
    const answers = driver.readEach(commands, transaction === undefined ? undefined : { transaction })
    for (let i = 0; i < requests.length; i++) {
      const request = requests[i]
      void answers[i].then(
        (record) => this.#answer(request, record),
        (error: unknown) => this.#fail(request, error),
      )
    }
  }

  #answer(request: Request, record: StoredRecord | null): void {
    try {
      this.#take(request, record)
    } catch (error) {
      this.#fail(request, error)
    }
  }

  #take(request: Request, record: StoredRecord | null): void {
    const { mapped, key, projection } = request
    const { identity } = this.#context
    if (identity.isClosed) throw sessionClosed()
    const isNew = identity.get(mapped, key.key) === undefined
    const managed = this.#hydrator.take(mapped, key, record, projection)
    if (managed === null || !isNew || managed.model.hooks.afterLoad.length === 0) return this.#found(request, managed)
    callHooks('afterLoad', [managed]).then(
      () => this.#found(request, managed),
      (error: unknown) => this.#fail(request, error),
    )
  }

  #found(request: Request, managed: Managed | null): void {
    this.#forget(request)
    request.resolve(managed?.state === 'removed' ? null : managed)
  }

  #fail(request: Request, error: unknown): void {
    this.#forget(request)
    request.reject(error)
  }

  #forget(request: Request): void {
    const pending = this.#pending[request.mapped.index]
    const id = identityOf(request.key.key)
    // A later request for more of the same record may have taken its place.
    if (pending?.get(id) === request) pending.delete(id)
  }
}
