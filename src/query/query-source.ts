import type { Take } from '../driver/arrivals.js'
import type { Driver } from '../driver/driver.js'
import type { KeyValue, Tenant } from '../keys/index.js'
import type { DeletedOption, EntityModel, IndexModel } from '../model/index.js'
import type { Expression } from '../plan/expression.js'
import type { FoundRecord } from '../plan/outcome.js'
import type { UserKey } from '../plan/record-key.js'
import type { QueryCommand } from '../plan/query-command.js'
import type { StatisticsOf } from './choose-index.js'
import type { Field } from './field.js'
import type { UsableIndex } from './usable-indexes.js'

/** Progress of a query. */
export interface QueryProgress {
  /** Records found so far. */
  readonly records: number
  /** Share of the data that has been looked at, from 0 to 1. */
  readonly share: number
}

export interface QueryOptions extends DeletedOption {
  /** Ends the query; it rejects with the signal's reason. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: QueryProgress) => unknown
  /** Records of all tenants, of a class whose key template has the tenant; otherwise such a query needs one. */
  readonly allTenants?: boolean
}

/** Parts of the database or session that every query of a class needs. */
export interface QuerySource<T extends object> {
  readonly model: EntityModel
  readonly driver: Driver
  readonly options: QueryOptions
  /** Fields that conditions can name. */
  readonly fields: ReadonlyMap<string, Field>
  /** Relations whose members' keys the record holds. */
  readonly members: ReadonlyMap<string, Field>
  /** Conditions that hold for all records of the class: its discriminator, its tenant, no delete under way. */
  readonly always: readonly Expression[]
  /** Indexes that its conditions may use. */
  readonly indexes: readonly UsableIndex[]
  /** Bins that tell the class, the key and the tenant of a record. */
  readonly keyBins: readonly string[]
  /** Only the key tells whether a record belongs to the tenant: each is looked at here. */
  readonly isCheckedByKey: boolean
  readonly statistics: StatisticsOf
  /** Asks the server about indexes between which there is a choice. */
  learn(indexes: readonly IndexModel[]): Promise<void>
  readonly tenant: Tenant | undefined
  /** Most entities that `take` may leave out of what is found. */
  readonly leaving: number
  bins(only: readonly string[] | undefined, paths: readonly string[]): QueryCommand['bins']
  /** False for a record of another tenant. */
  isOwn(record: FoundRecord): boolean
  keyOf(record: FoundRecord): KeyValue
  /** The owners of these companion records, in the same order; null where one is gone or the filter does not hold. */
  owners(
    companions: readonly FoundRecord[],
    bins: QueryCommand['bins'],
    filter: Expression | undefined,
  ): Promise<readonly (FoundRecord | null)[]>
  /** Whether each of these records has one of the members in a collection, wherever that keeps them. */
  hold(relation: string, owners: readonly FoundRecord[], members: readonly UserKey[]): Promise<readonly boolean[]>
  /** The entities of these records, with the relations that the paths name. */
  take(
    records: readonly FoundRecord[],
    only: readonly string[] | undefined,
    paths: readonly string[],
  ): readonly T[] | Promise<readonly T[]>
  /** Makes the entity of one record as it arrives; undefined where `take` has to see them together. */
  taking(only: readonly string[] | undefined): Take<T> | undefined
  checkOnly(only: readonly string[]): void
  checkPaths(paths: readonly string[]): void
  /** Counts the query as work that closing waits for; throws where no query may begin. */
  begin(): void
  end(): void
}
