import type { DeletedKeys } from '../../relations/contract/deleted-keys.js'
import { stateOf } from '../../relations/state/state-of.js'
import type { LinksTo } from '../mapping/mapped-class.js'
import type { ManagedEntity } from './managed-entity.js'

/** Links of one entity that are indexed; one with more is always visited. Bounds what it costs to index an entity again. */
const MOST_LINKS = 256

/**
 * Entities of a session by the keys that their relations to one class name, so that a delete or `detach` of one entity does not walk
 * through all that might name it. Entities that were linked since are indexed again by the next question.
 */
export class LinkIndex {
  readonly #relationsOf: LinksTo['relationsOf']
  readonly #byId = new Map<string, Set<ManagedEntity>>()
  readonly #idsOf = new Map<ManagedEntity, ReadonlySet<string>>()
  /** Entities that may name any key, or name too many. */
  readonly #others = new Set<ManagedEntity>()
  readonly #relinked: Set<ManagedEntity>

  constructor({ relationsOf }: LinksTo, holders: Iterable<ManagedEntity>) {
    this.#relationsOf = relationsOf
    this.#relinked = new Set(holders)
  }

  relinked(managed: ManagedEntity): void {
    if (this.#relationsOf.has(managed.mapped)) this.#relinked.add(managed)
  }

  drop(managed: ManagedEntity): void {
    this.#relinked.delete(managed)
    this.#forget(managed)
  }

  /** Entities that may name one of the keys. */
  holdersOf(keys: DeletedKeys): ManagedEntity[] {
    for (const managed of this.#others) this.#relinked.add(managed)
    for (const managed of this.#relinked) this.#index(managed)
    this.#relinked.clear()
    const found = new Set(this.#others)
    for (const id of keys.ids) for (const managed of this.#byId.get(id) ?? []) found.add(managed)
    return [...found]
  }

  #index(managed: ManagedEntity): void {
    this.#forget(managed)
    if (managed.state === 'gone') return
    const ids = this.#linkIds(managed)
    if (ids === undefined) return void this.#others.add(managed)
    if (ids.size === 0) return
    this.#idsOf.set(managed, ids)
    for (const id of ids) {
      const holders = this.#byId.get(id)
      if (holders === undefined) this.#byId.set(id, new Set([managed]))
      else holders.add(managed)
    }
  }

  #forget(managed: ManagedEntity): void {
    this.#others.delete(managed)
    for (const id of this.#idsOf.get(managed) ?? []) {
      const holders = this.#byId.get(id)!
      holders.delete(managed)
      if (holders.size === 0) this.#byId.delete(id)
    }
    this.#idsOf.delete(managed)
  }

  #linkIds(managed: ManagedEntity): ReadonlySet<string> | undefined {
    const all = new Set<string>()
    for (const strategy of this.#relationsOf.get(managed.mapped)!) {
      const ids = stateOf(managed, strategy)?.linkIds(MOST_LINKS)
      if (ids === undefined) return undefined
      for (const id of ids) all.add(id)
    }
    return all
  }
}
