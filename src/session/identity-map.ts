import type { Tenant } from '../keys/index.js'
import type { UserKey } from '../plan/record-key.js'
import type { Managed } from './managed.js'
import type { MappedClass } from './mapped-class.js'
import { setManaged } from './ownership.js'

/** One entity for each record, within one session. */
export class IdentityMap {
  /** The tenant whose keys the session works with. */
  readonly tenant: Tenant | undefined
  readonly #places: Map<UserKey, Managed>[] = []
  readonly #awaited = new Map<string, ((entity: object) => void)[]>()
  #isClosed = false

  constructor(tenant?: Tenant) {
    this.tenant = tenant
  }

  /** True once its session is closed: nothing may be added any more. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  get(mapped: MappedClass, key: UserKey): Managed | undefined {
    return this.#places[mapped.place]?.get(identityOf(key))
  }

  add(managed: Managed): Managed {
    const { place } = managed.mapped
    const records = (this.#places[place] ??= new Map())
    records.set(identityOf(managed.key.key), managed)
    setManaged(managed.entity, managed)
    return managed
  }

  /** Calls back once when the session gets an entity that was so far known by its key alone. */
  await(mapped: MappedClass, key: UserKey, then: (entity: object) => void): void {
    const id = awaitedId(mapped, key)
    const waiting = this.#awaited.get(id)
    if (waiting === undefined) this.#awaited.set(id, [then])
    else waiting.push(then)
  }

  /** Tells those who wait for the entity; it must be complete by now. */
  announce({ mapped, key, entity }: Managed): void {
    if (this.#awaited.size === 0) return
    const id = awaitedId(mapped, key.key)
    const waiting = this.#awaited.get(id)
    this.#awaited.delete(id)
    for (const then of waiting ?? []) then(entity)
  }

  /** The entity is nobody's from now on and may be given to any session. */
  remove(managed: Managed): void {
    managed.state = 'gone'
    const records = this.#places[managed.mapped.place]
    const id = identityOf(managed.key.key)
    if (records?.get(id) === managed) records.delete(id)
  }

  clear(): void {
    for (const managed of this.filter(() => true)) managed.state = 'gone'
    this.#places.length = 0
    this.#awaited.clear()
  }

  close(): void {
    this.clear()
    this.#isClosed = true
  }

  filter(wanted: (managed: Managed) => boolean): Managed[] {
    const found: Managed[] = []
    for (const records of this.#places) {
      if (records === undefined) continue
      for (const managed of records.values()) if (wanted(managed)) found.push(managed)
    }
    return found
  }
}

const awaitedId = ({ place }: MappedClass, key: UserKey): string => `${place}|${String(identityOf(key))}`

/** What a Map compares keys by: bytes by their content. The keys of one set are all of one kind, so no text collides with them. */
export function identityOf(key: UserKey): UserKey {
  if (!(key instanceof Uint8Array)) return key
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}
