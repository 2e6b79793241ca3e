import { commandBytes } from '../plan/bytes.js'
import type { Bins, DeleteCommand, WriteCommand } from '../plan/command.js'
import { recordSize } from '../plan/expression.js'
import type { Operation } from '../plan/operation.js'
import { addsUp, afterDoubt } from '../plan/repeatable.js'
import { recordId } from '../plan/record-key.js'
import { checkResultNames, hasResult, resultName } from '../plan/result-names.js'
import {
  batchType,
  scalarOperations,
  type BatchRow,
  type ClientOperation,
  type ClientRecord,
} from './aerospike-client.js'
import { clientOperation, readExpression } from './client-operations.js'
import { plainWrite, type PlainWrite } from './plain-write.js'
import { clientKey } from './client-record.js'
import { encodeExpression, encodeGuards } from './encode-expression.js'
import type { Outcome } from './outcome.js'
import type { Policies, WriteTerms } from './policies.js'
import { Tries } from './retry.js'

/** The result under which a watched record's size comes back; no bin of a user may begin like this. */
const SIZE = '_sk.size'
const READ_SIZE = readExpression(SIZE, encodeExpression(recordSize()))
const NO_BINS: Bins = Object.freeze({})

/** One write or delete on its way: waits, is sent alone or as a row, and may be sent again. */
export class PendingWrite {
  #id: string | undefined
  #tries: Tries | undefined
  readonly outcome: Promise<Outcome>
  settle!: (outcome: Outcome) => void
  readonly #plain: PlainWrite | undefined
  readonly #operations: readonly ClientOperation[] | undefined
  readonly terms: WriteTerms
  /** The command cannot or should not share a batch. */
  readonly goesAlone: boolean
  /** Nobody waits for it any more: it is not sent again. */
  isDropped = false
  /** It has been sent and is not answered yet. */
  isOut = false
  /** An earlier try may have taken effect. */
  isInDoubt = false

  /** Converts the command, so that a value that cannot be sent fails its own caller and not a batch of many. */
  constructor(
    readonly command: WriteCommand | DeleteCommand,
    durableDelete: boolean,
  ) {
    this.terms = termsOf(command, durableDelete)
    this.#plain = plainWrite(command)
    if (this.#plain === undefined) {
      checkResultNames(command)
      this.#operations = clientOperations(command)
      this.goesAlone = goesAlone(command)
    } else this.goesAlone = command.generation !== undefined
    this.outcome = new Promise((resolve) => (this.settle = resolve))
  }

  get id(): string {
    return (this.#id ??= recordId(this.command.key))
  }

  get operations(): readonly ClientOperation[] {
    return this.#operations ?? this.#plain!.operations
  }

  /** The bins of a write that does nothing but set and remove some: `put` costs less than `operate`. */
  get bins(): object | undefined {
    return this.#plain?.bins
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

  row(policies: Policies): BatchRow {
    const key = clientKey(this.command.key)
    return this.isPlainDelete
      ? { type: batchType.BATCH_REMOVE, key, policy: policies.removeRow(this.terms) }
      : { type: batchType.BATCH_WRITE, key, ops: this.operations, policy: policies.writeRow(this.terms) }
  }

  written(record: Partial<ClientRecord> = {}): Outcome {
    const { command } = this
    const generation = record.gen ?? undefined
    if (this.#plain !== undefined) return { command, state: 'written', bins: NO_BINS, generation, size: undefined }
    const bins = record.bins ?? {}
    const size = bins[SIZE]
    return {
      command,
      state: 'written',
      bins: resultsOf(command.operations, bins),
      generation,
      size: typeof size === 'number' ? size : undefined,
    }
  }
}

function goesAlone(command: WriteCommand | DeleteCommand): boolean {
  if (command.generation !== undefined) return true
  return command.operations.some(addsUp) && afterDoubt(command) === 'report'
}

export const noBins = (): Bins => NO_BINS

function clientOperations(command: WriteCommand | DeleteCommand): readonly ClientOperation[] {
  const converted = command.operations.map(clientOperation)
  if (command.kind === 'delete') return [...converted, scalarOperations.delete()]
  return command.watchSize ? [...converted, READ_SIZE] : converted
}

function termsOf(command: WriteCommand | DeleteCommand, durableDelete: boolean): WriteTerms {
  const { guards, generation } = command
  const filter = encodeGuards(guards)
  if (command.kind === 'write') {
    const { exists, ttl, sendKey } = command
    return { exists, ttl, sendKey, durableDelete, filter, generation }
  }
  return { exists: 'mustExist', ttl: 'keep', sendKey: false, durableDelete, filter, generation }
}

/** Only what the command asked for: the client also reports a null for each write. */
function resultsOf(operations: readonly Operation[], bins: Record<string, unknown>): Bins {
  let results: Record<string, unknown> | undefined
  for (const operation of operations) {
    if (!hasResult(operation)) continue
    const name = resultName(operation)!
    if (bins[name] !== undefined && bins[name] !== null) (results ??= {})[name] = bins[name]
  }
  return (results as Bins | undefined) ?? NO_BINS
}
