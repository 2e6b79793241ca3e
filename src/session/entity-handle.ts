import { readProperty } from '../codec/index.js'
import type { CollectionProperty } from '../model/index.js'
import type { ManagedEntity } from './tracking/managed-entity.js'
import type { MappedClass } from './mapping/mapped-class.js'
import { unknownRelation } from './context/session-errors.js'

/** An entity by its key alone; made by `session.ref`. Nothing is read until something is asked. */
export class EntityHandle<T extends object> {
  readonly #mapped: MappedClass
  readonly #unread: () => ManagedEntity

  /** @internal */
  constructor(mapped: MappedClass, unread: () => ManagedEntity) {
    this.#mapped = mapped
    this.#unread = unread
  }

  /** A collection of the entity, as `load` would give it, without loading the entity. */
  collection<N extends CollectionProperty<T> & keyof T>(name: N): T[N] {
    const relation = this.#mapped.relations.find(({ model }) => model.name === name)
    if (relation?.model.holds !== 'collection') throw unknownRelation(this.#mapped, name as string)
    return readProperty(this.#unread().entity, name as string) as T[N]
  }
}
