import type { BackgroundOperation, BackgroundProgress } from '../../driver/background-query.js'
import type { Take } from '../../driver/arrivals.js'
import type { Driver } from '../../driver/driver.js'
import type { Tenant } from '../../keys/index.js'
import type { EntityClass } from '../../model/index.js'
import type { WriteOperation } from '../../plan/operation.js'
import { writeBin } from '../../plan/operations.js'
import type { FoundRecord } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import { backgroundCommand } from '../../query/background-command.js'
import type { BulkChange } from '../../query/bulk-changes.js'
import type { BulkOptions, BulkSource } from '../../query/database-query.js'
import type { QueryState } from '../../query/query-run.js'
import { isIndexMissing } from '../../query/scan-instead.js'
import type { UsableIndex } from '../../query/usable-indexes.js'
import type { WorkCount } from '../context/activity.js'
import type { DatabaseQueryOptions } from '../context/option-types.js'
import { addTotals } from '../counters/read-totals.js'
import { unmanagedEntity } from '../load/unmanaged-read.js'
import { UnmanagedReader } from '../load/unmanaged-reader.js'
import type { MappedClass, Projection } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { projectionOf } from '../mapping/projection.js'
import { refuseQuery } from '../transaction/transaction-scope.js'
import type { Session } from '../session.js'
import { bulkInSessions } from './bulk-in-sessions.js'
import { checkTenantIsOf } from './check-tenant-of.js'
import { ClassSource } from './class-source.js'
import { whySessionsDelete, whySessionsUpdate } from './why-sessions.js'

/** Parts of the database that bulk operations need. */
interface QueryDatabase {
  readonly activity: WorkCount
  readonly validate: boolean
  /** A session for work that closing the database waits for. */
  openSession(tenant: Tenant | undefined): Session
}

/** Queries whose entities nobody manages: no identity, no snapshot, nothing to flush. */
export class UnmanagedSource<T extends object> extends ClassSource implements BulkSource<T> {
  declare readonly options: DatabaseQueryOptions
  readonly #database: QueryDatabase
  readonly #reader: UnmanagedReader

  constructor(
    mapped: MappedClass,
    classes: MappedClasses,
    driver: Driver,
    database: QueryDatabase,
    options: DatabaseQueryOptions,
  ) {
    super(mapped, classes, driver, options.tenant, options)
    checkTenantIsOf(mapped, options.tenant)
    this.#database = database
    this.#reader = new UnmanagedReader(classes, options.tenant)
  }

  /** Totals of sharded counters are read for a step of records at a time. */
  taking(only: readonly string[] | undefined): Take<T> | undefined {
    return this.mapped.shards === undefined ? this.#entityOf(projectionOf(this.mapped, only)) : undefined
  }

  take(records: readonly FoundRecord[], only: readonly string[] | undefined): readonly T[] | Promise<readonly T[]> {
    const { mapped } = this
    const projection = projectionOf(mapped, only)
    if (mapped.shards === undefined) return records.map(this.#entityOf(projection))
    const keys = records.map(({ bins }) => mapped.recordKey(mapped.keyOfBins(bins, this.tenant), this.tenant))
    const { signal } = this.options
    return addTotals(this.driver, mapped, records, keys, projection.loaded, { signal }).then((whole) =>
      whole.map(this.#entityOf(projection)),
    )
  }

  #entityOf(projection: Projection): Take<T> {
    const { mapped, classes } = this
    return (record) => {
      const entity = mapped.codec.hydrate(record.bins, projection.loaded, record) as T
      const own = mapped.model.discriminator === undefined ? mapped : classes.ofEntity(entity)
      if (own.relations.length === 0) return entity
      const key = own.recordKey(own.keyOfRead(entity, this.tenant), this.tenant)
      return unmanagedEntity(entity, own, key, this.#reader, record, projection)
    }
  }

  #recordKeyOf(entity: T): RecordKey {
    const own = this.mapped.model.discriminator === undefined ? this.mapped : this.classes.ofEntity(entity)
    return own.recordKey(own.keyOfRead(entity, this.tenant), this.tenant)
  }

  readonly leaving = 0

  checkPaths(): void {}

  begin(): void {
    refuseQuery(this.model, this.options)
    this.#database.activity.begin()
  }

  end(): void {
    this.#database.activity.end()
  }

  whySessionsUpdate(changes: readonly BulkChange[]): string | undefined {
    if (this.isCheckedByKey) return TOLD_BY_KEY
    return whySessionsUpdate(this.mapped, changes, this.#database.validate)
  }

  whySessionsDelete(): string | undefined {
    return this.isCheckedByKey ? TOLD_BY_KEY : whySessionsDelete(this.mapped)
  }

  stamps(): readonly WriteOperation[] {
    const bin = this.mapped.binOf(this.model.updatedAt)
    return bin === undefined ? [] : [writeBin(bin, Date.now())]
  }

  async background(
    { terms, isScan }: QueryState,
    operations: readonly BackgroundOperation[],
    onProgress?: (progress: BackgroundProgress) => unknown,
  ): Promise<BackgroundProgress> {
    const { model, always, statistics, indexes } = this
    const { durableDelete } = model
    const send = (usable: readonly UsableIndex[]): Promise<BackgroundProgress> => {
      const command = backgroundCommand({ model, always, statistics, indexes: usable }, terms, operations)
      return this.driver.background(command, operations, { signal: this.options.signal, onProgress, durableDelete })
    }
    this.begin()
    try {
      return await send(indexes)
    } catch (error) {
      // Another node may have begun: only what can be done twice is sent again.
      const isRepeatable = operations.every(({ kind }) => kind !== 'addToBin')
      if (!isScan || !isRepeatable || !isIndexMissing(error)) throw error
      return await send([])
    } finally {
      this.end()
    }
  }

  async inSessions(
    state: QueryState,
    changes: readonly BulkChange[] | 'delete',
    options: BulkOptions,
  ): Promise<{ written: number; failed: number }> {
    const { signal, deleted, allTenants } = this.options
    const entityClass = this.model.class as EntityClass<T>
    const { key } = this.mapped.codec
    this.begin()
    try {
      return await bulkInSessions<T>(
        {
          openSession: () => this.#database.openSession(this.tenant),
          query: (session) =>
            session
              .query(entityClass, { signal, outsideTransaction: true, deleted, allTenants })
              .like({ ...state, only: undefined }),
          className: this.model.name,
          keyOf: (entity) => key.keyOf(entity),
          recordKeyOf: (entity) => this.#recordKeyOf(entity),
          changes,
          isOneByOne: !this.mapped.standsAlone,
          signal,
        },
        options,
      )
    } finally {
      this.end()
    }
  }
}

const TOLD_BY_KEY = 'only the keys tell which records belong to the tenant'
