import { SkeinError, type Database, type Session } from 'skein'
import type { EmbeddedServer } from 'skein/embedded'
import { copy, KINDS, PROPERTIES, type Action, type Kind, type Result, type Target, type Values } from './world.js'

/** The side that is compared with the model: records as the raw client sees them, and entities of a session. */
export interface Seen {
  readonly values: Values
  readonly version: number | undefined
}

type Entity = InstanceType<(typeof KINDS)[Kind]>

/** Two sessions of a database, and somebody who works past them on the raw client. */
export class Reality {
  readonly #db: Database
  readonly #namespace: string
  readonly #prefix: string
  readonly #server: EmbeddedServer | undefined
  readonly #sessions: readonly Session[]
  /** Entities as the test holds on to them, as a program would. */
  readonly held: readonly Map<string, Entity>[] = [new Map(), new Map()]

  constructor(db: Database, namespace: string, prefix: string, server: EmbeddedServer | undefined) {
    this.#db = db
    this.#namespace = namespace
    this.#prefix = prefix
    this.#server = server
    this.#sessions = [db.session(), db.session()]
  }

  async act(action: Action): Promise<Result> {
    try {
      return await this.#act(action)
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
      return error.code.startsWith('SKEIN_2') ? error.code : error.name
    }
  }

  async #act(action: Action): Promise<Result> {
    switch (action.do) {
      case 'wait':
        await this.#server?.clock.advance(action.seconds)
        return 'ok'
      case 'writeOutside':
        await this.#writeOutside(action)
        return 'ok'
      case 'deleteOutside':
        await this.#deleteOutside(action)
        return 'ok'
      case 'flush':
        await this.#sessions[action.session].flush()
        return 'ok'
      case 'clear':
        this.#sessions[action.session].clear()
        return 'ok'
      default:
        return this.#onEntity(this.#sessions[action.session], this.held[action.session], action)
    }
  }

  async #onEntity(
    session: Session,
    held: Map<string, Entity>,
    action: Extract<Action, { session: 0 | 1; kind: Kind }>,
  ): Promise<Result> {
    const { kind } = action
    const Class = KINDS[kind]
    const id = `${kind}:${action.key}`
    const key = this.#keyOf(action)
    if (action.do === 'create') {
      held.set(id, session.create(Class, { id: key, ...copy(action.values) }))
      return 'ok'
    }
    if (action.do === 'load' || action.do === 'loadPart') {
      const options = action.do === 'load' ? {} : { only: ['a'] as const }
      held.set(id, await session.load<Entity>(Class, key, options))
      return 'ok'
    }
    if (action.do === 'deleteByKey') return String(await session.delete(Class, key))
    const entity = held.get(id)
    if (entity === undefined || !isManaged(session, entity)) return 'nothing'
    switch (action.do) {
      case 'change':
        Object.assign(entity, pickLoaded(entity, action.values, session))
        return 'ok'
      case 'save':
        await session.save(entity)
        return 'ok'
      case 'upsert':
        await session.upsert(entity)
        return 'ok'
      case 'remove':
        session.remove(entity)
        return 'ok'
      case 'delete':
        return String(await session.delete(entity))
      case 'refresh':
        await session.refresh(entity)
        return 'ok'
      case 'detach':
        session.detach(entity)
        return 'ok'
      default:
        throw new Error(`unknown action`)
    }
  }

  /** The entity, when the session manages it, and whether it is dirty. */
  entity(session: 0 | 1, id: string): (Seen & { readonly isDirty: boolean }) | undefined {
    const entity = this.held[session].get(id)
    const its = this.#sessions[session]
    if (entity === undefined || !isManaged(its, entity)) return undefined
    return { ...seen(entity), isDirty: its.isDirty(entity) }
  }

  async store(targets: readonly Target[]): Promise<Map<string, Seen>> {
    const rows = targets.map((target) => ({ key: this.#clientKey(target), readAllBins: true }))
    const results = await this.#db.client.batchRead(rows as never)
    const records = new Map<string, Seen>()
    results.forEach(({ status, record }, i) => {
      if (status === 0) records.set(`${targets[i].kind}:${targets[i].key}`, seen(record.bins))
    })
    return records
  }

  async #writeOutside(target: Target & { values: Values }): Promise<void> {
    const { client } = this.#db
    const key = this.#clientKey(target)
    const exists = await client.exists(key)
    const bins = { id: this.#keyOf(target), ...copy(target.values) }
    const record = exists ? await client.get(key) : undefined
    const version = ((record?.bins.version as number | undefined) ?? 0) + 1
    const ttl = exists ? -2 : target.kind === 'expiring' ? 100 : 0
    await client.put(key, target.kind === 'versioned' ? { ...bins, version } : bins, { ttl })
  }

  async #deleteOutside(target: Target): Promise<void> {
    const { strongConsistency } = this.#db.capabilities.namespaces[this.#namespace]
    await this.#db.client
      .remove(this.#clientKey(target), { durableDelete: strongConsistency } as never)
      .catch(ignoreMissing)
  }

  #clientKey(target: Target): { ns: string; set: string; key: string } {
    return { ns: this.#namespace, set: target.kind, key: this.#keyOf(target) }
  }

  #keyOf({ key }: Target): string {
    return `${this.#prefix}:${key}`
  }
}

function isManaged(session: Session, entity: object): boolean {
  try {
    session.isDirty(entity)
    return true
  } catch {
    return false
  }
}

function ignoreMissing(error: { code?: number }): void {
  if (error.code !== 2) throw error as Error
}

/** Properties that a program may set: one that was left out of the load must stay unset. */
function pickLoaded(entity: Entity, values: Values, session: Session): Values {
  const names = PROPERTIES.filter((name) => name in values)
  return Object.fromEntries(
    names.filter((name) => isLoaded(session, entity, name)).map((name) => [name, (values as Entity)[name]]),
  )
}

function isLoaded(session: Session, entity: Entity, name: keyof Values): boolean {
  const before = entity[name]
  Object.assign(entity, { [name]: name === 'a' ? 'probe' : name === 'b' ? -1 : ['probe'] })
  try {
    session.changes(entity)
    return true
  } catch {
    return false
  } finally {
    Object.assign(entity, { [name]: before })
  }
}

function seen(holder: object): Seen {
  const { a, b, tags, version } = holder as Values & { version?: number }
  return { values: copy({ a: a ?? undefined, b: b ?? undefined, tags: tags ?? undefined }), version }
}
