import type { Managed } from './managed.js'

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
  #managed: Managed | undefined

  static of(entity: object): Managed | undefined {
    return #managed in entity ? entity.#managed : undefined
  }

  static set(entity: object, managed: Managed): void {
    const owned = #managed in entity ? entity : new Ownership(entity)
    owned.#managed = managed
  }
}

export const managedOf = (entity: object): Managed | undefined => Ownership.of(entity)
export const setManaged = (entity: object, managed: Managed): void => Ownership.set(entity, managed)
