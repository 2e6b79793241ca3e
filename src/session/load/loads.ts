import type { DeletedMode } from '../../model/index.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Tracked } from '../../relations/contract/tracked.js'
import type { MappedClass, Projection } from '../mapping/mapped-class.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { Hydrator } from './hydrator.js'
import type { SameKeyLoader } from './same-key-loader.js'

/** Reads of a session, each made when it is needed: most saves read nothing. */
export interface Loads {
  readonly byKey: SameKeyLoader
  readonly hydrator: Hydrator
  /** Entities of records that must be read again, because the session wrote them meanwhile. */
  again(
    mapped: MappedClass,
    keys: readonly RecordKey[],
    projection: Projection,
  ): Promise<readonly (ManagedEntity | null)[]>
}

/** Kind of reads that a reader makes. */
export interface ReaderOptions {
  readonly deleted?: DeletedMode | undefined
  /** Owner of companions that it reads, which do not say which class their record is. */
  readonly owner?: Tracked
  /** Set for reads of a flush, which must not wait for the flush. */
  readonly isOwn?: boolean
}
