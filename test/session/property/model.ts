import { isDeepStrictEqual } from 'node:util'
import {
  copy,
  PROPERTIES,
  type Action,
  type Kind,
  type Property,
  type Result,
  type Target,
  type Values,
} from './world.js'

export interface ModelRecord {
  values: Values
  version: number
  expires: number
}

export interface ModelEntity {
  values: Values
  known: Values
  state: 'new' | 'stored' | 'removed'
  version: number
  loaded: readonly Property[]
  /** True when it was ever stored or read, so that there may be something to delete. */
  wasSent: boolean
}

const same = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a, b)
const LIFETIME = 100

/** Skein as a few maps: what sessions and store must look like after each action, and what the call must give. */
export class Model {
  readonly store = new Map<string, ModelRecord>()
  readonly sessions: readonly Map<string, ModelEntity>[] = [new Map(), new Map()]
  #now = 0

  act(action: Action): Result {
    switch (action.do) {
      case 'wait':
        return this.#wait(action.seconds)
      case 'clear':
        this.sessions[action.session].clear()
        return 'ok'
      case 'flush':
        return this.#flush(this.sessions[action.session])
      case 'writeOutside':
        return this.#writeOutside(action)
      case 'deleteOutside':
        this.store.delete(idOf(action))
        return 'ok'
      case 'create':
        return this.#create(this.sessions[action.session], action)
      default:
        return this.#onEntity(this.sessions[action.session], action)
    }
  }

  isDirty({ state, values, known }: ModelEntity): boolean {
    return state !== 'stored' || !same(values, known)
  }

  #onEntity(session: Map<string, ModelEntity>, action: Extract<Action, { session: 0 | 1; kind: Kind }>): Result {
    const id = idOf(action)
    const entity = session.get(id)
    if (action.do === 'load' || action.do === 'loadPart') {
      return this.#load(session, id, action.do === 'load' ? PROPERTIES : ['a'])
    }
    if (action.do === 'deleteByKey') return this.#deleteByKey(session, id, entity)
    if (entity === undefined) return 'nothing'
    switch (action.do) {
      case 'change':
        for (const name of PROPERTIES) if (name in action.values) change(entity, name, action.values)
        return 'ok'
      case 'save':
        return this.#save(id, keep(entity), action.kind)
      case 'upsert':
        return this.#upsert(id, keep(entity), action.kind)
      case 'remove':
        if (entity.wasSent) entity.state = 'removed'
        else session.delete(id)
        return 'ok'
      case 'delete':
        return this.#delete(session, id, entity, action.kind)
      case 'refresh':
        return this.#refresh(id, entity)
      case 'detach':
        session.delete(id)
        return 'ok'
      default:
        throw new Error(`unknown action ${action.do}`)
    }
  }

  #create(session: Map<string, ModelEntity>, action: Target & { values: Values }): Result {
    const id = idOf(action)
    if (session.has(id)) return 'SKEIN_2304'
    const values = copy(action.values)
    session.set(id, { values, known: {}, state: 'new', version: 0, loaded: PROPERTIES, wasSent: false })
    return 'ok'
  }

  #load(session: Map<string, ModelEntity>, id: string, wanted: readonly Property[]): Result {
    const entity = session.get(id)
    if (entity !== undefined && wanted.every((name) => entity.loaded.includes(name))) {
      return entity.state === 'removed' ? 'NotFoundError' : 'ok'
    }
    const record = this.store.get(id)
    if (record === undefined) return 'NotFoundError'
    if (entity === undefined) {
      const part = pick(record.values, wanted)
      session.set(id, {
        values: copy(part),
        known: copy(part),
        state: 'stored',
        version: record.version,
        loaded: wanted,
        wasSent: true,
      })
      return 'ok'
    }
    const missing = wanted.filter((name) => !entity.loaded.includes(name))
    Object.assign(entity.values, copy(pick(record.values, missing)))
    Object.assign(entity.known, copy(pick(record.values, missing)))
    entity.loaded = PROPERTIES
    return entity.state === 'removed' ? 'NotFoundError' : 'ok'
  }

  #save(id: string, entity: ModelEntity, kind: Kind): Result {
    if (entity.state === 'new') {
      if (this.store.has(id)) return 'AlreadyExistsError'
      this.#put(id, entity.values, 1, kind)
    } else {
      if (same(entity.values, entity.known)) return 'ok'
      const record = this.store.get(id)
      if (record === undefined) return 'EntityGoneError'
      if (kind === 'versioned' && record.version !== entity.version) return 'VersionConflictError'
      for (const name of PROPERTIES) applyChange(record.values, entity, name)
      record.version++
    }
    confirm(entity, this.store.get(id)!.version)
    return 'ok'
  }

  #upsert(id: string, entity: ModelEntity, kind: Kind): Result {
    if (entity.loaded.length < PROPERTIES.length) return 'SKEIN_2306'
    this.#put(id, entity.values, (this.store.get(id)?.version ?? 0) + 1, kind)
    confirm(entity, this.store.get(id)!.version)
    return 'ok'
  }

  #put(id: string, values: Values, version: number, kind: Kind): void {
    const expires = kind === 'expiring' ? this.#now + LIFETIME : Infinity
    this.store.set(id, { values: copy(values), version, expires })
  }

  #delete(session: Map<string, ModelEntity>, id: string, entity: ModelEntity, kind: Kind): Result {
    if (!entity.wasSent) {
      session.delete(id)
      return 'false'
    }
    const record = this.store.get(id)
    const isGuarded = kind === 'versioned' && entity.version > 0
    if (record !== undefined && isGuarded && record.version !== entity.version) return 'VersionConflictError'
    session.delete(id)
    return String(this.store.delete(id))
  }

  #deleteByKey(session: Map<string, ModelEntity>, id: string, _entity: ModelEntity | undefined): Result {
    session.delete(id)
    return String(this.store.delete(id))
  }

  #refresh(id: string, entity: ModelEntity): Result {
    const record = this.store.get(id)
    if (record === undefined) return 'EntityGoneError'
    entity.values = copy(record.values)
    entity.known = copy(record.values)
    entity.version = record.version
    entity.loaded = PROPERTIES
    entity.wasSent = true
    entity.state = 'stored'
    return 'ok'
  }

  #flush(session: Map<string, ModelEntity>): Result {
    const results = [...session].flatMap(([id, entity]) => {
      if (!this.isDirty(entity)) return []
      const kind = id.split(':')[0] as Kind
      return [entity.state === 'removed' ? this.#delete(session, id, entity, kind) : this.#save(id, entity, kind)]
    })
    const failed = results.filter((result) => result.endsWith('Error'))
    if (failed.length === 0) return 'ok'
    return results.length === 1 ? failed[0] : 'PartialFailureError'
  }

  #writeOutside(action: Target & { values: Values }): Result {
    const id = idOf(action)
    const record = this.store.get(id)
    if (record === undefined) this.#put(id, action.values, 1, action.kind)
    else {
      Object.assign(record.values, copy(action.values))
      record.version++
    }
    return 'ok'
  }

  #wait(seconds: number): Result {
    this.#now += seconds
    for (const [id, { expires }] of this.store) if (expires <= this.#now) this.store.delete(id)
    return 'ok'
  }
}

export const idOf = ({ kind, key }: Target): string => `${kind}:${key}`

function keep(entity: ModelEntity): ModelEntity {
  if (entity.state === 'removed') entity.state = entity.version > 0 ? 'stored' : 'new'
  return entity
}

function change(entity: ModelEntity, name: Property, values: Values): void {
  // A property that was not loaded must not be set; cases.test.ts has what happens then.
  if (!entity.loaded.includes(name)) return
  if (values[name] === undefined) delete entity.values[name]
  else Object.assign(entity.values, copy(pick(values, [name])))
}

/** A list that only grew, or was not there, is appended to, everything else is written or removed. */
function applyChange(stored: Values, { values, known }: ModelEntity, name: Property): void {
  if (same(values[name], known[name])) return
  const before = known[name]
  const now = values[name]
  if (now === undefined) delete stored[name]
  else if (Array.isArray(now) && (before === undefined || (Array.isArray(before) && isPrefix(before, now)))) {
    stored.tags = [...(stored.tags ?? []), ...now.slice(before?.length ?? 0)]
  } else Object.assign(stored, copy(pick(values, [name])))
}

const isPrefix = (prefix: readonly string[], list: readonly string[]): boolean =>
  list.length > prefix.length && prefix.every((item, i) => item === list[i])

function confirm(entity: ModelEntity, version: number): void {
  entity.known = copy(entity.values)
  entity.state = 'stored'
  entity.version = version
  entity.wasSent = true
}

function pick(values: Values, names: readonly Property[]): Values {
  return Object.fromEntries(names.filter((name) => name in values).map((name) => [name, values[name]]))
}
