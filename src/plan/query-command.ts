import { and, lt, sinceUpdate, value, type Expression } from './expression.js'
import type { UserKey } from './record-key.js'

/** Index lookup: records whose bin holds this value (or one of a range), or has it among its list items or map keys. */
export interface IndexLookup {
  /** Name of the index, for errors. */
  readonly name: string
  /** Empty where a calculated value is indexed. */
  readonly bin: string
  /** Keys of the maps that lead from the bin to the indexed value. */
  readonly steps?: readonly string[]
  /** The indexed value, where it is calculated. */
  readonly expression?: Expression
  readonly on: 'value' | 'listElements' | 'mapKeys' | 'mapValues'
  readonly value: UserKey
  /** Last value of a range of integers that begins with `value`. */
  readonly to?: number | bigint
}

/** Reads many records of one set: those an index finds, or all of them. */
export interface QueryCommand {
  readonly kind: 'query'
  /** Name of the class, for errors and events. */
  readonly entity: string
  readonly namespace: string
  readonly set: string
  /** Absent: the whole set. */
  readonly index?: IndexLookup
  readonly bins: 'all' | 'none' | readonly string[]
  /** Lists and maps come as the bytes they are stored in, which say their order. */
  readonly raw?: boolean
  /** Filter that returned records satisfy. */
  readonly filter?: Expression
  /** Further queries of the same set whose records belong to the result; a record that several find is returned once. */
  readonly others?: readonly QueryCommand[]
}

export function query(options: Omit<QueryCommand, 'kind'>): QueryCommand {
  return Object.freeze({ kind: 'query', ...options })
}

/** Milliseconds by which the clocks of this process and of a server may differ while a query runs. */
const MARGIN = 5000

/** Copies a query so that it finds only records that were changed within so many milliseconds. */
export function changedWithin(command: QueryCommand, milliseconds: number): QueryCommand {
  const isRecent = lt(sinceUpdate(), value(Math.ceil(milliseconds) + MARGIN))
  const filter = command.filter === undefined ? isRecent : and(command.filter, isRecent)
  const others = command.others?.map((each) => changedWithin(each, milliseconds))
  return query({ ...command, filter, ...(others && { others }) })
}
