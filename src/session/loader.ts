import type { StoredRecord } from '../plan/outcome.js'
import { read } from '../plan/command.js'
import type { RecordKey, UserKey } from '../plan/record-key.js'
import { callHooks } from './hooks.js'
import type { Hydrator } from './hydrator.js'
import { identityOf } from './identity-map.js'
import type { Managed } from './managed.js'
import type { MappedClass } from './mapped-class.js'
import { covers, type Projection } from './projection.js'
import { callOptions, type SessionContext } from './session-context.js'
import { otherClass, sessionClosed } from './session-errors.js'

interface Request {
  readonly mapped: MappedClass
  readonly key: RecordKey
  readonly projection: Projection
  readonly found: Promise<Managed | null>
  readonly resolve: (managed: Managed | null) => void
  readonly reject: (error: unknown) => void
}

/** Loads entities by key: what is asked for in one tick is one batch read, and no record is read twice at a time. */
export class Loader {
  readonly #context: SessionContext
  readonly #hydrator: Hydrator
  /** Asked for in this tick, and not sent yet. */
  #waiting: Request[] = []
  /** Waiting or in flight. */
  readonly #pending = new Map<MappedClass, Map<UserKey, Request>>()

  constructor(context: SessionContext, hydrator: Hydrator) {
    this.#context = context
    this.#hydrator = hydrator
  }

  /** The managed entity, or null. Nothing is sent for what the session already has. */
  find(mapped: MappedClass, key: RecordKey, projection: Projection): Promise<Managed | null> {
    const known = this.#context.identity.get(mapped, key.key)
    if (known !== undefined && covers(known.loaded, projection.loaded)) return this.#known(known, mapped)
    const pending = this.#pending.get(mapped)?.get(identityOf(key.key))
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
    let pending = this.#pending.get(mapped)
    if (pending === undefined) this.#pending.set(mapped, (pending = new Map<UserKey, Request>()))
    pending.set(identityOf(key.key), request)
    // After the promises of this tick: what they ask for goes along.
    if (this.#waiting.push(request) === 1) void Promise.resolve().then(() => process.nextTick(() => this.#send()))
    return found
  }

  #send(): void {
    const requests = this.#waiting
    this.#waiting = []
    const { driver } = this.#context
    const commands = requests.map(({ mapped, key, projection }) => read(mapped.model.name, key, projection.bins))
    const answers = driver.readEach(commands, callOptions(this.#context))
    answers.forEach((answer, i) => {
      const request = requests[i]
      answer.then((record) => this.#answer(request, record)).catch((error: unknown) => this.#fail(request, error))
    })
  }

  #answer(request: Request, record: StoredRecord | null): void | Promise<void> {
    const { mapped, key, projection } = request
    if (this.#context.identity.isClosed) throw sessionClosed()
    const isNew = this.#context.identity.get(mapped, key.key) === undefined
    const managed = this.#hydrator.take(mapped, key, record, projection)
    if (managed === null || !isNew || managed.model.hooks.afterLoad.length === 0) return this.#found(request, managed)
    return callHooks('afterLoad', [managed]).then(() => this.#found(request, managed))
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
    const pending = this.#pending.get(request.mapped)
    const id = identityOf(request.key.key)
    // A later request for more of the same record may have taken its place.
    if (pending?.get(id) === request) pending.delete(id)
  }
}
