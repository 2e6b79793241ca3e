import type { Tenant } from '../../keys/index.js'
import type { UserKey } from '../../plan/record-key.js'
import type { EntityHome, ManagedEntity } from './managed-entity.js'
import type { OpenWrites } from './entity-home.js'
import type { DeletedKeys } from '../../relations/contract/deleted-keys.js'
import type { LinksTo, MappedClass } from '../mapping/mapped-class.js'
import { LinkIndex } from './link-index.js'

let lastSession = 0

/** An index costs more than a few walks, or walks through few entities. */
const FEW = 64
const WALKS_BEFORE_INDEX = 4

/** Identity map: one entity for each record, within one session. */
export class IdentityMap implements EntityHome {
  readonly session: number
  readonly tenant: Tenant | undefined
  /** By the place of their class; as long as it needs to be, because a list that grows takes much more. */
  readonly #places: (RecordMap<ManagedEntity> | undefined)[]
  readonly #within: IdentityMap | undefined
  #awaited: Map<string, ((entity: object) => void)[]> | undefined
  #leaving: Map<string, number> | undefined
  /** By the place of the class that links lead to. */
  #links: Map<number, LinkIndex> | undefined
  #walks: Map<number, number> | undefined
  /** Records as they are after the delete of an entity. */
  #next: Map<ManagedEntity, NextRecord> | undefined
  #isClosed = false
  #moment = 0
  /** Undefined while nothing was written. */
  writes: OpenWrites<ManagedEntity> | undefined

  constructor({ places }: { readonly places: readonly undefined[] }, tenant?: Tenant, within?: IdentityMap) {
    this.session = within?.session ?? ++lastSession
    this.tenant = tenant
    this.#within = within
    this.#places = places.slice()
  }

  get root(): IdentityMap {
    return this.#within?.root ?? this
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get moment(): number {
    return this.#moment
  }

  nextMoment(): number {
    return ++this.#moment
  }

  get(mapped: MappedClass, key: UserKey): ManagedEntity | undefined {
    return this.#places[mapped.place]?.get(key)
  }

  add(managed: ManagedEntity): ManagedEntity {
    const { place } = managed.mapped
    const records = (this.#places[place] ??= new RecordMap())
    records.set(managed.key.key, managed)
    setManaged(managed.entity, managed)
    return managed
  }

  /** The only entity of the session; undefined where there are several, or none. */
  get sole(): ManagedEntity | undefined {
    let found: ManagedEntity | undefined
    for (const records of this.#places) {
      if (records === undefined || records.isEmpty) continue
      if (found !== undefined || records.sole === undefined) return undefined
      found = records.sole
    }
    return found
  }

  /** Calls back once when the session gets an entity that was so far known by its key alone. */
  await(mapped: MappedClass, key: UserKey, then: (entity: object) => void): void {
    const id = idOf(mapped, key)
    this.#awaited ??= new Map()
    const waiting = this.#awaited.get(id)
    if (waiting === undefined) this.#awaited.set(id, [then])
    else waiting.push(then)
  }

  isAwaited(mapped: MappedClass, key: UserKey): boolean {
    return this.#awaited !== undefined && this.#awaited.has(idOf(mapped, key))
  }

  announce({ mapped, key, entity }: ManagedEntity): void {
    if (this.#awaited === undefined) return
    const id = idOf(mapped, key.key)
    const waiting = this.#awaited.get(id)
    this.#awaited.delete(id)
    for (const then of waiting ?? []) then(entity)
  }

  /** A record is being deleted whose entity is yet to be read; returns what is to be called when it is. */
  leave(mapped: MappedClass, key: UserKey): () => void {
    const [id, leaving] = [idOf(mapped, key), (this.#leaving ??= new Map<string, number>())]
    leaving.set(id, (leaving.get(id) ?? 0) + 1)
    return () => {
      const left = leaving.get(id)! - 1
      if (left === 0) leaving.delete(id)
      else leaving.set(id, left)
    }
  }

  isLeaving(mapped: MappedClass, key: UserKey): boolean {
    return this.#leaving !== undefined && this.#leaving.has(idOf(mapped, key))
  }

  remove(managed: ManagedEntity): void {
    managed.leave()
    this.#places[managed.mapped.place]?.delete(managed.key.key, managed)
    for (const index of this.#links?.values() ?? []) index.drop(managed)
    const next = this.#takeNext(managed)
    if (next !== undefined) this.announce(this.add(next.managed))
  }

  /** Record as handles change it for after the delete of the entity. */
  nextOf(managed: ManagedEntity): ManagedEntity | undefined {
    return this.#next?.get(managed)?.managed
  }

  isNext(managed: ManagedEntity): boolean {
    return this.#next !== undefined && this.get(managed.mapped, managed.key.key) !== managed
  }

  /** Takes the record in as soon as the entity has left; where that stays, `takeOver` gives it the changes. */
  follow(managed: ManagedEntity, next: NextRecord): void {
    this.#next ??= new Map()
    this.#next.set(managed, next)
  }

  kept(managed: ManagedEntity): void {
    this.#takeNext(managed)?.takeOver(managed)
  }

  #takeNext(managed: ManagedEntity): NextRecord | undefined {
    const next = this.#next?.get(managed)
    this.#next?.delete(managed)
    return next
  }

  relinked(managed: ManagedEntity): void {
    if (this.#links !== undefined) for (const index of this.#links.values()) index.relinked(managed)
  }

  /** Entities that may name one of these keys of a class. The first questions walk through all; later ones ask an index. */
  holdersOf(place: number, links: LinksTo, keys: DeletedKeys): ManagedEntity[] {
    const index = this.#links?.get(place)
    if (index !== undefined) return index.holdersOf(keys)
    const holders = this.filter(({ mapped }) => links.relationsOf.has(mapped), links.holders)
    if (holders.length < FEW) return holders
    const walks = (this.#walks ??= new Map<number, number>())
    walks.set(place, (walks.get(place) ?? 0) + 1)
    if (walks.get(place)! > WALKS_BEFORE_INDEX) (this.#links ??= new Map()).set(place, new LinkIndex(links, holders))
    return holders
  }

  clear(): void {
    for (const managed of this.filter(() => true)) managed.leave()
    this.#places.fill(undefined)
    this.#awaited = this.#next = undefined
    this.#links = this.#walks = undefined
  }

  close(): void {
    this.clear()
    this.#isClosed = true
  }

  /** `places`: those to look at, where not all of them need be. */
  filter(wanted: (managed: ManagedEntity) => boolean, places?: readonly number[]): ManagedEntity[] {
    const found: ManagedEntity[] = []
    const looked = places?.map((place) => this.#places[place]) ?? this.#places
    for (const records of looked) records?.collect(wanted, found)
    return found
  }
}

/** Record of an entity as it is after its delete. */
interface NextRecord {
  readonly managed: ManagedEntity
  /** Gives its changes to the entity. */
  takeOver(kept: ManagedEntity): void
}

const idOf = ({ place }: MappedClass, key: UserKey): string => `${place}|${String(identityOf(key))}`

/** Values of a session by key. A Map is made for the second entry only: most sessions hold one entity and wait for one record. */
export class RecordMap<T> {
  #key: UserKey | undefined
  #value: T | undefined
  #many: Map<UserKey, T> | undefined

  get isEmpty(): boolean {
    return this.#many === undefined ? this.#key === undefined : this.#many.size === 0
  }

  /** The only value; undefined once there were several. */
  get sole(): T | undefined {
    return this.#many === undefined ? this.#value : undefined
  }

  get(key: UserKey): T | undefined {
    const id = identityOf(key)
    if (this.#many !== undefined) return this.#many.get(id)
    return this.#key === id ? this.#value : undefined
  }

  set(key: UserKey, value: T): void {
    const id = identityOf(key)
    if (this.#many !== undefined) this.#many.set(id, value)
    else if (this.#key === undefined || this.#key === id) {
      this.#key = id
      this.#value = value
    } else {
      this.#many = new Map([[this.#key, this.#value!]])
      this.#many.set(id, value)
      this.#key = this.#value = undefined
    }
  }

  /** Takes out the value, unless another one has taken its place. */
  delete(key: UserKey, value: T): void {
    if (this.get(key) !== value) return
    if (this.#many !== undefined) this.#many.delete(identityOf(key))
    else this.#key = this.#value = undefined
  }

  /** The values for which this holds go to the end of the list. */
  collect(wanted: (value: T) => boolean, into: T[]): void {
    if (this.#many !== undefined) {
      for (const value of this.#many.values()) if (wanted(value)) into.push(value)
    } else if (this.#key !== undefined && wanted(this.#value!)) into.push(this.#value!)
  }
}

/** Identity of a key in a Map: bytes by their content. The keys of one set are all of one kind, so no text collides with them. */
export function identityOf(key: UserKey): UserKey {
  if (!(key instanceof Uint8Array)) return key
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}

class Returns {
  constructor(entity: object) {
    return entity
  }
}

/**
 * Notes on an entity which session manages it. A private field put on from outside is seen by nothing: not by console.log, JSON,
 * Object.keys, a copy or a comparison; and it costs a fifth of a WeakMap.
 */
class Ownership extends Returns {
  #managed: ManagedEntity

  private constructor(entity: object, managed: ManagedEntity) {
    super(entity)
    this.#managed = managed
  }

  static of(entity: object): ManagedEntity | undefined {
    return #managed in entity ? entity.#managed : undefined
  }

  static set(entity: object, managed: ManagedEntity): void {
    if (#managed in entity) entity.#managed = managed
    else new Ownership(entity, managed)
  }
}

export const managedOf = (entity: object): ManagedEntity | undefined => Ownership.of(entity)
const setManaged = (entity: object, managed: ManagedEntity): void => Ownership.set(entity, managed)
