import type { ManagedEntity } from './managed-entity.js'

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
export const setManaged = (entity: object, managed: ManagedEntity): void => Ownership.set(entity, managed)
