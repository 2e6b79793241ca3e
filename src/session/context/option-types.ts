import type { Tenant } from '../../keys/index.js'
import type { OutsideTransaction } from '../../model/index.js'
import type { QueryOptions } from '../../query/query-source.js'
import type { TransactionMode } from './open-options.js'

export interface SessionOptions {
  /** Enters every key of a class that belongs to tenants; a key of another tenant is refused. */
  readonly tenant?: Tenant
  /** `false`: class-validator's rules are not checked in this session. */
  readonly validate?: boolean
}

/** Progress of a large delete. */
export interface DeleteProgress {
  /** The class and relation whose members are being deleted or detached. */
  readonly className: string
  readonly property: string
  /** Members of this collection that are done. */
  readonly done: number
}

export interface DrainOptions {
  /** Entities that a delete works on at a time: what reaches more is deleted in steps of half as many. Default 500. */
  readonly step?: number
  /** Called with how far the delete of a large collection has come. */
  readonly onProgress?: (progress: DeleteProgress) => unknown
  readonly signal?: AbortSignal
}

export interface FlushOptions extends DrainOptions, OutsideTransaction {
  /** Use of transactions for records that change together; as `open` was told, unless given. */
  readonly transactions?: TransactionMode
}

export interface SessionQueryOptions extends QueryOptions, OutsideTransaction {}

export interface DatabaseQueryOptions extends QueryOptions, OutsideTransaction {
  /** Tenant whose records are wanted, where the keys of the class belong to tenants. */
  readonly tenant?: Tenant
}
