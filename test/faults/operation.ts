import type { EntityClass, Session, KeyInput } from 'skein'
import type { World } from './world.js'

/** Something people do with relations; what it changes is sent by the flush that follows. */
export interface Operation {
  readonly title: string
  /** Stores the records that the operation starts from. */
  prepare(session: Session, world: World): void
  /** Changes entities in memory; what it loads is not part of what is tested. It copes with what an earlier run left behind. */
  change(session: Session, world: World): Promise<void> | void
  /** Set where its records have nothing to do with each other: each changes by itself, with transactions, too. */
  readonly isUntied?: boolean
  /** Recovery by the next process, when that is something else. */
  again?(session: Session, world: World): Promise<unknown>
}

/** Keys of one class that another class stores in a bin. */
export interface Reference {
  readonly set: string
  readonly bin: string
  readonly to: string
  /** The other side stores it, too. */
  readonly mirrored?: boolean
  /** The bin holds parts, and this field of each holds the key. */
  readonly field?: string
}

/** Operations on one way to store relations. */
export interface Family {
  readonly name: string
  readonly classes: readonly EntityClass[]
  readonly references: readonly Reference[]
  readonly operations: readonly Operation[]
  /** Set where its collections are in companion records: number of shards of the sharded ones. */
  readonly shards?: number
  /** Set where its queries need indexes. */
  readonly isIndexed?: boolean
}

/** The stored entity, or a new one that the next flush stores. */
export async function obtain<T extends object>(
  session: Session,
  entityClass: EntityClass<T>,
  key: number | string,
  values: object = {},
): Promise<T> {
  return (await session.find(entityClass, key as KeyInput<T>)) ?? session.persist(make(entityClass, key, values))
}

/** A new entity under a key; every class of these tests calls its key `id`. */
export function make<T extends object>(entityClass: EntityClass<T>, id: number | string, values: object = {}): T {
  return Object.assign(new (entityClass as new () => T)(), { id, ...values })
}

/** The delete of an entity; one that was cut off loads as gone, and is finished by deleting again. */
export function deletion(
  title: string,
  prepare: Operation['prepare'],
  entityClass: EntityClass,
  keyIn: (world: World) => number | string,
): Operation {
  return {
    title,
    prepare,
    change: async (session, world) => session.remove(await session.load(entityClass, keyIn(world))),
    again: (session, world) => session.delete(entityClass, keyIn(world)),
  }
}
