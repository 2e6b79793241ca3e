import './main-thread.js'
import Aerospike from 'aerospike'

// The only file that touches the untyped parts of the official client; everything else sees the types declared here.

/** The official client, as `db.client` gives it to users. */
export type AerospikeClient = InstanceType<typeof Aerospike.Client>
export type ClientConfig = Aerospike.ConfigOptions
export type ClientPolicies = NonNullable<ClientConfig['policies']>

/** A policy as the binding reads it: by property name. */
export type PolicyObject = Readonly<Record<string, unknown>>

/** A key as the binding reads it. */
export interface ClientKey {
  readonly ns: string
  readonly set: string
  readonly key: string | number | bigint | Uint8Array
  readonly digest: undefined
}

/** An operation as the binding reads it: an opcode and its arguments by name. */
export type ClientOperation = object

export interface ClientRecord {
  readonly bins: Record<string, unknown> | null | undefined
  readonly gen: number | null
  readonly ttl: number | null
}

/** A row of a batch call. */
export interface BatchRow {
  readonly type: number
  readonly key: ClientKey
  readonly policy?: PolicyObject
  readonly ops?: readonly ClientOperation[]
  readonly bins?: readonly string[]
  readonly readAllBins?: boolean
}

export interface BatchRowResult {
  readonly status: number
  readonly inDoubt: boolean
  readonly record: ClientRecord
}

/** Error that the client rejects with. */
export interface ClientError extends Error {
  code: number
  inDoubt?: boolean
  command?: unknown
}

/** The client's native transaction object. */
export type NativeTransaction = InstanceType<typeof Aerospike.Transaction>

/** An index as the client takes it. */
export interface ClientIndex {
  readonly index: string
  readonly ns: string
  readonly set: string
  readonly bin: string
  readonly type: number
  readonly datatype: number
  readonly context?: object
}

/** The building of an index. */
export interface IndexJob {
  wait(pollMilliseconds: number): Promise<unknown>
}

export interface ClientQueryOptions {
  readonly filters?: readonly object[]
  readonly select?: readonly string[]
  readonly nobins?: boolean
  readonly maxRecords?: number
  readonly paginate?: boolean
  /** Of a background operation: the expiry that it gives. */
  readonly ttl?: number
}

/** A record as a query finds it. */
export interface ClientFound extends ClientRecord {
  readonly key: { readonly digest: Uint8Array }
}

/** A query that is being put together; with `paginate`, each call of `results` is the next page. */
export interface ClientQuery {
  partitions(begin: number, count: number): void
  results(policy: PolicyObject): Promise<ClientFound[]>
  foreach(policy: PolicyObject): ClientStream
  hasNextPage(): boolean
  /** Lets the server run write operations on all records that are found. */
  operate(operations: readonly ClientOperation[], policy: PolicyObject, id: number): Promise<unknown>
}

/** Records of a query as they come; there is no way to hold them back. */
export interface ClientStream {
  on(event: 'data', listener: (record: ClientFound) => void): unknown
  on(event: 'error', listener: (error: ClientError) => void): unknown
  on(event: 'end', listener: () => void): unknown
}

/** Callback of a call; a call with a callback returns no promise, which would cost more than the rest of the driver. */
export type Answered<T> = (error: ClientError | null, result: T) => void

/** A node as the client names it. */
export interface ClientNode {
  readonly name: string
}

/** The calls of the client that the driver uses, with the arguments the binding really takes. */
export interface ClientCalls {
  get(key: ClientKey, policy: PolicyObject | null, answered: Answered<ClientRecord>): void
  select(key: ClientKey, bins: readonly string[], policy: PolicyObject | null, answered: Answered<ClientRecord>): void
  operate(
    key: ClientKey,
    operations: readonly ClientOperation[],
    meta: object | null,
    policy: PolicyObject | null,
    answered: Answered<ClientRecord>,
  ): void
  put(key: ClientKey, bins: object, meta: object | null, policy: PolicyObject | null, answered: Answered<object>): void
  /** The binding's own call, which answers at once where it refuses the arguments. */
  asExec(call: 'operateAsync', args: readonly unknown[]): void
  remove(key: ClientKey, policy: PolicyObject | null, answered: Answered<object>): void
  batchRead(rows: readonly BatchRow[], policy: PolicyObject | null): Promise<BatchRowResult[]>
  batchRead(rows: readonly BatchRow[], policy: PolicyObject | null, answered: Answered<BatchRowResult[]>): void
  batchWrite(rows: readonly BatchRow[], policy: PolicyObject | null, answered: Answered<BatchRowResult[]>): void
  /** Null when there is no node to ask. */
  infoAny(request: string, policy?: PolicyObject): Promise<string | null>
  infoAll(request: string): Promise<readonly { readonly info: string }[]>
  createIndex(index: ClientIndex): Promise<IndexJob>
  createExpIndex(index: Omit<ClientIndex, 'bin'> & { readonly exp: string }): Promise<IndexJob>
  indexRemove(namespace: string, name: string): Promise<unknown>
  query(namespace: string, set: string, options: ClientQueryOptions): ClientQuery
  infoNode(request: string, node: ClientNode, policy: PolicyObject): Promise<string>
  getNodes(): readonly ClientNode[]
  on(event: 'nodeAdded' | 'nodeRemoved', listener: () => void): unknown
  off(event: 'nodeAdded' | 'nodeRemoved', listener: () => void): unknown
  stats(): { commands: { inFlight: number; queued: number } }
  close(releaseEventLoop?: boolean, destroyTransactions?: boolean): void
  // Commit and abort may also throw, or return a plain number.
  commit(transaction: NativeTransaction): Promise<number> | number
  abort(transaction: NativeTransaction): Promise<number> | number
}

interface TransactionPool {
  transactions: NativeTransaction[]
  capacity: number
}

export const calls = (client: AerospikeClient): ClientCalls => client as unknown as ClientCalls

/** The C library under the client logs process-wide, so its log follows the newest client's configuration. */
export function newClient(config: ClientConfig): AerospikeClient {
  Aerospike.setDefaultLogging(config.log ?? { level: LOG_OFF })
  return new Aerospike.Client(config)
}

/** A policy of that kind with all its options, none of them set. */
export const emptyPolicy = (kind: string): object =>
  (Aerospike.policy as unknown as { createPolicy(kind: string, values: object): object }).createPolicy(kind, {})

export const newTransaction = (): NativeTransaction => new Aerospike.Transaction()

export const transactionPool = (): TransactionPool => Aerospike._transactionPool as TransactionPool

/** Frees the native memory; only safe once nothing of the transaction is in flight. */
export const closeTransaction = (transaction: NativeTransaction): void =>
  (transaction as unknown as { close(): void }).close()

export const LOG_OFF = Aerospike.log.OFF as number
export const { Double, GeoJSON, policy, batchType } = Aerospike

export const indexDataType = Aerospike.indexDataType as unknown as Numbers<
  'NUMERIC' | 'STRING' | 'BLOB' | 'GEO2DSPHERE'
>
export const indexType = Aerospike.indexType as unknown as Numbers<'DEFAULT' | 'LIST' | 'MAPKEYS' | 'MAPVALUES'>

/** Conditions on an index; the client's types know no bytes. */
export const filter = Aerospike.filter as unknown as {
  contains(bin: string, value: string | number | Buffer, indexType: number, context?: object): object
  range(bin: string | null, min: number, max: number, indexType: number, context?: object): object
}

/** A list or map operation that is being put together. */
export interface CollectionOperation {
  andReturn(returnType: number): CollectionOperation
  withContext(context: object): CollectionOperation
}
type Make<Result> = (bin: string, ...args: unknown[]) => Result
type Names<Name extends string, Result> = Readonly<Record<Name, Make<Result>>>
type Numbers<Name extends string> = Readonly<Record<Name, number>>

/** Operations on plain bins; the client's types are narrower than what the binding takes. */
export const scalarOperations = Aerospike.operations as unknown as Names<'incr' | 'read', ClientOperation> & {
  touch(ttl?: number): ClientOperation
  delete(): ClientOperation
}
const { op: WRITE } = Aerospike.operations.write('', 0) as unknown as { readonly op: number }
/** Made by a constructor, as commands are. */
class Write {
  readonly op = WRITE
  readonly bin: string
  readonly value: unknown

  constructor(bin: string, value: unknown) {
    this.bin = bin
    this.value = value
  }
}

/** The client's own function copies the value in from an object of its own, which takes as long as all else that a row needs. */
export const writeOperation = (bin: string, value: unknown): ClientOperation => new Write(bin, value)
/** An operation as users of the official client make it. */
export type RawOperation = Aerospike.operations.Operation

/** The expression is given ready-made in base64. */
export const expressionOperations = Aerospike.exp.operations as unknown as Readonly<
  Record<'read' | 'write', (name: string, expression: string, flags: number) => ClientOperation>
>
export const lists = Aerospike.lists as unknown as Names<
  | 'create'
  | 'appendItems'
  | 'removeByValue'
  | 'removeByValueList'
  | 'removeByIndexRange'
  | 'removeByRankRange'
  | 'removeByValueRange'
  | 'set'
  | 'insertItems'
  | 'increment'
  | 'clear'
  | 'size'
  | 'getByIndexRange'
  | 'getByValue'
  | 'getByValueList'
  | 'getByValueRange',
  CollectionOperation
> & {
  readonly order: Numbers<'ORDERED' | 'UNORDERED'>
  readonly writeFlags: Numbers<'ADD_UNIQUE' | 'NO_FAIL' | 'PARTIAL'>
  readonly returnType: Numbers<'NONE' | 'COUNT' | 'VALUE' | 'INDEX' | 'RANK' | 'EXISTS'>
}
export const maps = Aerospike.maps as unknown as Names<
  | 'create'
  | 'put'
  | 'putItems'
  | 'increment'
  | 'removeByKey'
  | 'removeByKeyList'
  | 'removeByValue'
  | 'removeByValueList'
  | 'removeByIndexRange'
  | 'removeByRankRange'
  | 'removeByValueRange'
  | 'clear'
  | 'size'
  | 'getByKey'
  | 'getByKeyList'
  | 'getByKeyRange'
  | 'getByIndexRange',
  CollectionOperation
> & {
  readonly order: Numbers<'KEY_ORDERED' | 'KEY_VALUE_ORDERED' | 'UNORDERED'>
  readonly writeFlags: Numbers<'CREATE_ONLY' | 'NO_FAIL'>
  readonly returnType: Numbers<'NONE' | 'COUNT' | 'VALUE' | 'KEY' | 'KEY_VALUE' | 'INDEX' | 'RANK' | 'EXISTS'>
}

/** A way down into nested lists and maps. */
export interface ClientContext {
  addMapKey(key: unknown): void
  addMapKeyCreate(key: unknown, order: number): void
  addMapIndex(index: number): void
  addMapRank(rank: number): void
  addListIndex(index: number): void
  addListRank(rank: number): void
  addListValue(value: unknown): void
}
export const newContext = (): ClientContext => new Aerospike.cdt.Context()

export const TXN_STATE = Aerospike.Transaction.state as unknown as Readonly<
  Record<'VERIFIED' | 'COMMITTED' | 'ABORTED', number>
>

export const ABORT_STATUS = (
  Aerospike as unknown as {
    abortStatus: Readonly<Record<'OK' | 'ALREADY_ABORTED' | 'ROLL_BACK_ABANDONED' | 'CLOSE_ABANDONED', number>>
  }
).abortStatus
