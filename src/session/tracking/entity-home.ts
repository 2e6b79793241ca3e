import type { Tenant } from '../../keys/index.js'
import type { UserKey } from '../../plan/record-key.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** Writes of a session, as its reads of entities `M` see them: what a read says that was begun before a write has ended is outdated. */
export interface OpenWrites<M> {
  /** End of a write of the entity that is under way; undefined where none is. */
  endOfWrite(managed: M): Promise<unknown> | undefined
  /** Runs work beside which no write of the entity is under way: later ones wait for it. */
  between<T>(managed: M, work: () => Promise<T>): Promise<T>
}

/** Identity map of a session, as its entities `M` see it. */
export interface HomeOf<M> {
  /** Number of the session in events: sessions that work for another one have its number. */
  readonly session: number
  /** Tenant whose keys the session works with. */
  readonly tenant: Tenant | undefined
  /** Identity map of the session that a user has: a large delete works in short sessions of its own. */
  readonly root: HomeOf<M>
  /** Moment of the session: each write that ends is the next one. */
  readonly moment: number
  /** Begins the next moment, and returns it. */
  nextMoment(): number
  /** True once its session is closed: nothing may be added any more. */
  readonly isClosed: boolean
  /** The entity is nobody's from now on and may be given to any session. */
  remove(managed: M): void
  /** Calls those who wait for the entity; it must be complete by now. */
  announce(managed: M): void
  /** The entity stays after all: it takes over what was changed for after its delete. */
  kept(managed: M): void
  /** True while the record is being deleted by its key, and its entity is yet to be read. */
  isLeaving(mapped: MappedClass, key: UserKey): boolean
  /** True for a record as it is after the delete of the entity that the session still has. */
  isNext(managed: M): boolean
  /** A relation of the entity may lead to others than before. */
  relinked(managed: M): void
}
