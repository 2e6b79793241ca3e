import { NotFoundError } from '../errors/index.js'
import type { EntityClass } from '../model/index.js'
import { isInsideHook } from './tracking/lifecycle-hooks.js'
import { EntityLoader } from './load/entity-loader.js'
import { SessionWrites } from './session-writes.js'
import { recordedChanges } from './tracking/write-options.js'
import type { ManagedEntity } from './tracking/managed-entity.js'
import type { MappedClass } from './mapping/mapped-class.js'
import type { SessionContext } from './context/session-context.js'
import { databaseClosed, insideHook, notFound, sessionClosed, transactionOver } from './context/session-errors.js'
import type { KeyInput, SaveOptions } from './context/session-types.js'
import { checkNotArchived } from './archive/archived.js'
import { checkTtl } from './flush/plan/record-write.js'

/** State that all calls of one session share, and the checks that they begin with. */
export class SessionCore {
  readonly context: SessionContext
  readonly loads: EntityLoader
  #work: SessionWrites | undefined
  #closing: Promise<void> | undefined

  constructor(context: SessionContext) {
    this.context = context
    this.loads = new EntityLoader(context)
  }

  get #isInsideHook(): boolean {
    return this.context.classes.hasHooks && isInsideHook(this.context.identity)
  }

  close(): Promise<void> {
    if (this.#isInsideHook) return Promise.reject(insideHook())
    this.#closing ??= this.work.queue.idle().then(() => this.context.identity.close())
    return this.#closing
  }

  /** Takes an entity in, or keeps one that was to be deleted. */
  manage(entity: object, ttl: SaveOptions['ttl']): ManagedEntity {
    this.checkOpen()
    const { classes } = this.context
    if (classes.hasArchives) checkNotArchived(entity, classes.ofEntity(entity))
    if (ttl !== undefined) checkTtl({ mapped: this.context.classes.ofEntity(entity) }, ttl)
    return this.work.entities.manage(entity)
  }

  /** Saves and deletes; made when they are needed, because many sessions only load. */
  get work(): SessionWrites {
    return (this.#work ??= new SessionWrites(this.context, this.loads))
  }

  /** Class of a call that may be made while the session is open. */
  mapped(entityClass: EntityClass): MappedClass {
    this.checkOpen()
    return this.context.classes.of(entityClass)
  }

  /** Class of a load. */
  toLoad(entityClass: EntityClass): MappedClass {
    this.checkMayLoad()
    return this.context.classes.of(entityClass)
  }

  notFound(entityClass: EntityClass, keys: readonly KeyInput[]): NotFoundError {
    const mapped = this.context.classes.of(entityClass)
    const { identity } = this.context
    const stored = keys.map((key) => mapped.codec.key.scheme.toKey(key, identity.tenant))
    const isPending = stored.some((key) => {
      const managed = identity.get(mapped, key)
      return managed?.stored?.createsRecord === true && recordedChanges(managed).length > 0
    })
    return notFound(mapped, stored, isPending ? 'Flush first: the flush creates the record.' : undefined)
  }

  checkOpen(): void {
    if (this.#closing !== undefined) throw this.context.refusesQueries === true ? transactionOver() : sessionClosed()
  }

  /** Loads of a hook belong to work that began before the database was closed. */
  checkMayLoad(): void {
    this.checkOpen()
    if (this.context.activity.isClosing && !this.#isInsideHook) throw databaseClosed()
  }

  /** Asked before anything is noted: what is refused leaves nothing behind. A hook would wait for the work that waits for it. */
  checkMaySend(): void {
    this.checkOpen()
    if (this.#isInsideHook) throw insideHook()
  }
}

/** Base of sessions, which hides their core from users. */
export class SessionBase {
  readonly #core: SessionCore

  /** @internal */
  constructor(context: SessionContext) {
    this.#core = new SessionCore(context)
  }

  /** @internal */
  protected get core(): SessionCore {
    return this.#core
  }
}
