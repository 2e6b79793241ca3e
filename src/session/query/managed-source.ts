import type { FoundRecord } from '../../plan/outcome.js'
import type { QuerySource } from '../../query/query-source.js'
import type { SessionQueryOptions } from '../context/option-types.js'
import type { SessionContext } from '../context/session-context.js'
import { checkPaths } from '../load/check-paths.js'
import type { EntityLoader } from '../load/entity-loader.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { queryInTransaction } from '../transaction/transaction-scope.js'
import { ClassSource } from './class-source.js'

/** Queries whose entities a session manages. */
export class ManagedSource<T extends object> extends ClassSource implements QuerySource<T> {
  declare readonly options: SessionQueryOptions
  readonly #context: SessionContext
  readonly #loads: EntityLoader
  readonly #checkOpen: () => void
  #begun = 0

  constructor(
    mapped: MappedClass,
    context: SessionContext,
    loads: EntityLoader,
    checkOpen: () => void,
    options: SessionQueryOptions,
  ) {
    super(mapped, context.classes, context.driver, context.identity.tenant, options)
    this.#context = context
    this.#loads = loads
    this.#checkOpen = checkOpen
  }

  /** A session reads what belongs to the entities for all of a step. */
  taking(): undefined {}

  async take(
    records: readonly FoundRecord[],
    only: readonly string[] | undefined,
    paths: readonly string[],
  ): Promise<readonly T[]> {
    this.#checkOpen()
    const { outsideTransaction, deleted } = this.options
    const options = { only, with: paths, outsideTransaction, deleted }
    return (await this.#loads.taken(this.mapped, records, this.#begun, options)) as readonly T[]
  }

  /** Entities that the session is to delete are not given. */
  get leaving(): number {
    return this.#context.identity.filter(({ shownState }) => shownState === 'removed').length
  }

  checkPaths(paths: readonly string[]): void {
    checkPaths(this.mapped, paths, this.classes)
  }

  begin(): void {
    this.#checkOpen()
    if (this.#context.refusesQueries === true && this.options.outsideTransaction !== true)
      throw queryInTransaction(this.model)
    this.#begun = this.#context.identity.moment
    this.#context.reading.begin()
  }

  end(): void {
    this.#context.reading.end()
  }
}
