import type { Driver } from '../../driver/driver.js'
import type { Tenant } from '../../keys/index.js'
import type { OutsideTransaction } from '../../model/index.js'
import type { FoundRecord } from '../../plan/outcome.js'
import type { QueryOptions, QuerySource } from '../../query/query-source.js'
import type { WorkCount } from '../context/activity.js'
import { unmanagedEntity } from '../load/unmanaged-read.js'
import { UnmanagedReader } from '../load/unmanaged-reader.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { projectionOf } from '../mapping/projection.js'
import { refuseInTransaction } from '../transaction/transaction-scope.js'
import { ClassSource } from './class-source.js'

export interface DatabaseQueryOptions extends QueryOptions, OutsideTransaction {
  /** Whose records, where the keys of the class belong to tenants. */
  readonly tenant?: Tenant
}

/** Queries whose entities nobody manages: no identity, no snapshot, nothing to flush. */
export class UnmanagedSource<T extends object> extends ClassSource implements QuerySource<T> {
  declare readonly options: DatabaseQueryOptions
  readonly #activity: WorkCount
  readonly #reader: UnmanagedReader

  constructor(
    mapped: MappedClass,
    classes: MappedClasses,
    driver: Driver,
    activity: WorkCount,
    options: DatabaseQueryOptions,
  ) {
    super(mapped, classes, driver, options.tenant, options)
    this.#activity = activity
    this.#reader = new UnmanagedReader(classes, options.tenant)
  }

  take(records: readonly FoundRecord[], only: readonly string[] | undefined): readonly T[] {
    const { mapped, classes } = this
    const projection = projectionOf(mapped, only)
    return records.map((record) => {
      const entity = mapped.codec.hydrate(record.bins, projection.loaded, record) as T
      const own = mapped.model.discriminator === undefined ? mapped : classes.ofEntity(entity)
      if (own.relations.length === 0) return entity
      const key = own.recordKey(own.codec.key.keyOf(entity), this.tenant)
      return unmanagedEntity(entity, own, key, this.#reader, record, projection)
    })
  }

  checkPaths(): void {}

  begin(): void {
    refuseInTransaction('A query', this.options)
    this.#activity.begin()
  }

  end(): void {
    this.#activity.end()
  }
}
