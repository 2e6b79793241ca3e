import type { Bins, DeleteCommand, Existence, Ttl, WriteCommand } from '../plan/command.js'
import { accumulates, afterDoubt, checkResultNames, hasResult, isRaw, resultName } from '../plan/effects.js'
import { recordSize } from '../plan/expression.js'
import type { Operation, OperationKind } from '../plan/operation.js'
import type { RecordKey } from '../plan/record-key.js'
import { commandBytes, largestSizeAfter } from '../plan/wire-bytes.js'
import {
  type Answered,
  type BatchRow,
  type BatchRowResult,
  batchType,
  type ClientCalls,
  type ClientKey,
  type ClientOperation,
  type ClientRecord,
  type NativeTransaction,
  type PolicyObject,
  scalarOperations,
} from './aerospike-client.js'
import { readExpression } from './client-expression-operations.js'
import { binOperations, clientOperation } from './client-operations.js'
import { clientKey, NO_BINS, plainBins } from './client-record.js'
import { encodeGuards } from './encode-expression.js'
import { callerContext, callerSession } from './events.js'
import type { Outcome } from './outcome.js'
import { metaOf, type Policies, type WriteTerms } from './policies.js'
import { areTaken } from './raw-operations.js'
import { Tries } from './retry.js'

/** The result under which a watched record's size comes back; no bin of a user may begin like this. */
const SIZE = '_sk.size'
const READ_SIZE = readExpression(SIZE, recordSize())

/** Receiver of a write's outcome; it is told once, and must not throw. */
export interface WriteReceiver {
  settled(outcome: Outcome): void
}

/** Receiver that calls a function. */
export class OneSettled implements WriteReceiver {
  readonly settled: (outcome: Outcome) => void

  constructor(settled: (outcome: Outcome) => void) {
    this.settled = settled
  }
}

/** A write or delete that is not answered yet: waits, is sent alone or as a row, and may be sent again. */
export class PendingWrite implements WriteTerms {
  readonly command: WriteCommand | DeleteCommand
  readonly durableDelete: boolean
  readonly filter: string | undefined
  /** The command cannot or should not share a batch. */
  readonly goesAlone: boolean
  /** Of a write that does nothing but set and remove some bins: `put` costs less than `operate`. */
  readonly bins: object | undefined
  readonly #operations: readonly ClientOperation[] | undefined
  /** True where a user made some of the operations with the official client. */
  readonly #isByUser: boolean = false
  readonly inContext = callerContext()
  readonly session = callerSession()
  #receiver: WriteReceiver | undefined
  #tries: Tries | undefined
  /** Set when nobody waits for it any longer: it is not sent again. */
  isDropped = false
  /** Sent, and not answered yet. */
  isOut = false
  /** Number of times that the server answered that the record is busy. */
  busy = 0
  /** An earlier try may have taken effect. */
  isInDoubt = false

  /** Converts the command, so that a value that cannot be sent fails its own caller and not a batch of many. */
  constructor(command: WriteCommand | DeleteCommand, durableDelete: boolean, receiver?: WriteReceiver) {
    const isWrite = command.kind === 'write'
    this.command = command
    this.durableDelete = durableDelete
    this.filter = command.guards.length === 0 ? undefined : encodeGuards(command.guards)
    this.#receiver = receiver
    this.bins = isWrite ? plainBins(command) : undefined
    if (this.bins === undefined && !this.isPlainDelete) {
      checkResultNames(command)
      this.#operations = clientOperations(command)
      this.#isByUser = command.operations.some(isRaw)
      this.goesAlone = goesAlone(command) || (this.#isByUser && hidesResults(command.operations))
    } else this.goesAlone = command.generation !== undefined
  }

  /** Settles the write for its receiver; later calls have no effect. */
  settle(outcome: Outcome): void {
    const receiver = this.#receiver
    this.#receiver = undefined
    receiver?.settled(outcome)
  }

  get key(): RecordKey {
    return this.command.key
  }

  get exists(): Existence {
    return this.command.kind === 'write' ? this.command.exists : 'mustExist'
  }

  get ttl(): Ttl {
    return this.command.kind === 'write' ? this.command.ttl : 'keep'
  }

  get sendKey(): boolean {
    return this.command.kind === 'write' && this.command.sendKey
  }

  get generation(): number | undefined {
    return this.command.generation
  }

  get operations(): readonly ClientOperation[] {
    return this.#operations ?? binOperations(this.bins!)
  }

  get bytes(): number {
    return commandBytes(this.command)
  }

  get attempt(): number {
    return this.#tries?.count ?? 1
  }

  get tries(): Tries {
    return (this.#tries ??= new Tries())
  }

  /** A delete that reads nothing has a call of its own. */
  get isPlainDelete(): boolean {
    return this.command.kind === 'delete' && this.command.operations.length === 0
  }

  /** False for operations of a user that the binding refuses, which would end the process in a row of a batch. */
  mayBeRow(client: ClientCalls): boolean {
    return !this.#isByUser || areTaken(this.operations, client)
  }

  row(policies: Policies): BatchRow {
    const key = clientKey(this.command.key)
    return this.isPlainDelete
      ? { type: batchType.BATCH_REMOVE, key, policy: policies.removeRow(this) }
      : new WriteRow(key, this.operations, policies.writeRow(this))
  }

  written(record: Partial<ClientRecord> = {}): Outcome {
    const { command } = this
    const generation = record.gen ?? undefined
    if (this.#operations === undefined) return new Written(command, generation)
    const bins = record.bins ?? {}
    const size = bins[SIZE]
    return {
      command,
      state: 'written',
      bins: resultsOf(command.operations, bins),
      generation,
      size: typeof size === 'number' ? largestSizeAfter(command, size) : undefined,
      ...(typeof size === 'number' && { members: membersAfter(command.operations, bins) }),
      ...(this.busy > 0 && { busy: this.busy }),
    }
  }
}

/** Row of a batch that writes; made by a constructor, as commands are. */
class WriteRow implements BatchRow {
  readonly type = batchType.BATCH_WRITE
  readonly key: ClientKey
  readonly ops: readonly ClientOperation[]
  readonly policy: PolicyObject

  constructor(key: ClientKey, ops: readonly ClientOperation[], policy: PolicyObject) {
    this.key = key
    this.ops = ops
    this.policy = policy
  }
}

/** Outcome of a write that reads nothing along. */
class Written implements Outcome {
  readonly command: WriteCommand | DeleteCommand
  readonly state = 'written'
  readonly bins: Bins
  readonly generation: number | undefined
  readonly size: undefined

  constructor(command: WriteCommand | DeleteCommand, generation: number | undefined) {
    this.command = command
    this.bins = NO_BINS
    this.generation = generation
    this.size = undefined
  }
}

function goesAlone(command: WriteCommand | DeleteCommand): boolean {
  if (command.generation !== undefined) return true
  return command.operations.some(accumulates) && afterDoubt(command) === 'report'
}

/** True where a user reads and writes one bin: in a row of a batch, the write hides what was read. */
function hidesResults(operations: readonly Operation[]): boolean {
  const raw = operations.filter(isRaw)
  return raw.length > 1 && new Set(raw.map(resultName)).size < raw.length
}

/** Lists and maps answer an addition with their size. */
function membersAfter(
  operations: readonly Operation[],
  bins: Record<string, unknown>,
): { readonly [bin: string]: number } {
  const sizes: { [bin: string]: number } = {}
  for (const operation of operations)
    if (GROWS.has(operation.kind) && 'bin' in operation && typeof bins[operation.bin] === 'number')
      sizes[operation.bin] = bins[operation.bin] as number
  return sizes
}

const GROWS: ReadonlySet<OperationKind> = new Set<OperationKind>([
  'listAppendUnique',
  'mapPut',
  'mapPutItems',
  'mapPutMissing',
])

function clientOperations(command: WriteCommand | DeleteCommand): readonly ClientOperation[] {
  const converted = command.operations.map(clientOperation)
  if (command.kind === 'delete') return [...converted, scalarOperations.delete()]
  return command.watchSize ? [...converted, READ_SIZE] : converted
}

/** Only what the command asked for: the client also reports a null for each write. */
function resultsOf(operations: readonly Operation[], bins: Record<string, unknown>): Bins {
  let results: Record<string, unknown> | undefined
  for (const operation of operations) {
    const name = resultName(operation)
    const result = name === undefined ? null : bins[name]
    // Looked at first: of most writes there is nothing, and that is cheaper to see than what an operation returns.
    if (result !== undefined && result !== null && hasResult(operation)) (results ??= {})[name!] = result
  }
  return (results as Bins | undefined) ?? NO_BINS
}

interface CallParts {
  readonly client: ClientCalls
  readonly policies: Policies
}

/** Sends one write as a call of its own; of a `put` and a `remove` the answer has nothing of a record. Never throws. */
export function callAlone(
  entry: PendingWrite,
  { client, policies }: CallParts,
  answered: Answered<Partial<ClientRecord>>,
  transaction?: NativeTransaction,
): void {
  const key = clientKey(entry.command.key)
  try {
    if (entry.isPlainDelete) return client.remove(key, policies.remove(entry, transaction), answered)
    const meta = metaOf(entry)
    const { bins } = entry
    if (bins !== undefined) client.put(key, bins, meta, policies.put(entry, transaction), answered)
    else client.operate(key, entry.operations, meta, policies.operate(entry, transaction), answered)
  } catch (error) {
    process.nextTick(answered, error, {})
  }
}

/** Sends several writes as one batch. Never throws. */
export function callBatch(
  entries: readonly PendingWrite[],
  { client, policies }: CallParts,
  answered: Answered<readonly BatchRowResult[]>,
): void {
  try {
    const rows = entries.map((entry) => entry.row(policies))
    client.batchWrite(rows, null, answered)
  } catch (error) {
    process.nextTick(answered, error, [])
  }
}
