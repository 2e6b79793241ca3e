import type { BackgroundOperation, BackgroundProgress } from '../driver/background-query.js'
import { compileChanges, type BulkChange, type BulkChanges } from './bulk-changes.js'
import type { WriteOperation } from '../plan/operation.js'
import { deleteRecord } from '../plan/operations.js'
import { beyondBounds } from './increment-bounds.js'
import { Query } from './query.js'
import { checkBulkCursor, checkBulkOptions, type BulkOptions } from './query-calls.js'
import { bulkOfDeleted, bulkOfSome } from './query-errors.js'
import { refusePages } from './query-page.js'
import type { QueryState } from './query-run.js'
import type { QuerySource } from './query-source.js'
import type { Term } from './term.js'

export type { BulkOptions, BulkProgress } from './query-calls.js'

export interface BulkResult {
  /** Records that were changed or deleted; of a dry run, those that would be. */
  readonly written: number
  /** Records that met the conditions and could not be written: another writer was faster each time, a transaction holds them, or `inc` would overflow. */
  readonly failed: number
  /** `server`: one background operation. `sessions`: read, changed and flushed here, in steps. */
  readonly by: 'server' | 'sessions'
  /** Reason why the server alone does not do it. */
  readonly because?: string
}

/** Parts that changing many records needs beyond reading them. */
export interface BulkSource<T extends object> extends QuerySource<T> {
  /** Reason why only sessions can do it; undefined where the server can. */
  whySessionsUpdate(changes: readonly BulkChange[]): string | undefined
  whySessionsDelete(): string | undefined
  /** Operations that go with every update by the server. */
  stamps(): readonly WriteOperation[]
  background(
    state: QueryState,
    operations: readonly BackgroundOperation[],
    onProgress?: (progress: BackgroundProgress) => unknown,
  ): Promise<BackgroundProgress>
  /** In steps, each in a session of its own. */
  inSessions(
    state: QueryState,
    changes: readonly BulkChange[] | 'delete',
    options: BulkOptions,
  ): Promise<{ written: number; failed: number }>
}

/** A query of the database itself: its entities are nobody's, and it can change or delete what it finds. */
export class DatabaseQuery<T extends object> extends Query<T> {
  declare protected readonly source: BulkSource<T>

  /**
   * Changes all records that meet the conditions: by one background operation of the server where no hook, version, validation or
   * relation is concerned, otherwise through sessions, in steps.
   *
   * @example
   * await db.query(Listing).where({ city: 'Bern' }).update({ price: inc(10), state: 'sold' })
   */
  async update(changes: BulkChanges<T>, options: BulkOptions = {}): Promise<BulkResult> {
    checkBulkOptions('update()', options)
    const { model, fields } = this.source
    const compiled = compileChanges(model, fields, changes)
    const because = this.source.whySessionsUpdate(compiled)
    const operations = compiled.flatMap(({ operation }) => operation ?? [])
    return this.#bulk(because, compiled, [...operations, ...this.source.stamps()], options)
  }

  /** Deletes all records that meet the conditions, in the same way; what is related to them is treated as by `session.delete`. */
  async delete(options: BulkOptions = {}): Promise<BulkResult> {
    checkBulkOptions('delete()', options)
    return this.#bulk(this.source.whySessionsDelete(), 'delete', [deleteRecord()], options)
  }

  async #bulk(
    reason: string | undefined,
    changes: readonly BulkChange[] | 'delete',
    operations: readonly BackgroundOperation[],
    options: BulkOptions,
  ): Promise<BulkResult> {
    const because = reason ?? whyCompanions(this.state.terms)
    checkBulkCursor(options, because !== undefined)
    const { dryRun = false, onProgress, after } = options
    const { state, source } = this
    if (state.limit !== undefined || state.order.length > 0) throw bulkOfSome(source.model)
    if (source.options.deleted !== undefined) throw bulkOfDeleted(source.model, changes === 'delete')
    refusePages(this.run.plan, source.model)
    const how = because === undefined ? ({ by: 'server' } as const) : ({ by: 'sessions', because } as const)
    const bounds = because === undefined && changes !== 'delete' ? beyondBounds(source.fields, changes) : undefined
    const beyond = bounds === undefined ? 0 : await this.derive(alsoWith(state, bounds.beyond)).count()
    if (dryRun) return { written: (await this.count()) - beyond, failed: beyond, ...how }
    if (this.run.plan.isNever) return { written: 0, failed: 0, ...how }
    if (because !== undefined) return { ...(await source.inSessions(state, changes, { onProgress, after })), ...how }
    const tell =
      onProgress && ((progress: BackgroundProgress) => onProgress({ written: progress.written, share: progress.share }))
    const { written, failed } = await source.background(
      bounds === undefined ? state : alsoWith(state, bounds.within),
      operations,
      tell,
    )
    return { written, failed: failed + beyond, ...how }
  }
}

/** The server's own operation works on what it finds, and that would be companions. */
const whyCompanions = (terms: readonly Term[]): string | undefined =>
  terms.some(({ apart }) => apart !== undefined) ? 'a condition is about members in companion records' : undefined

const alsoWith = (state: QueryState, term: Term): QueryState => ({ ...state, terms: [...state.terms, term] })
