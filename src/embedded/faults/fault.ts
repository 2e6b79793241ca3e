import { createHash } from 'node:crypto'
import { checkDuration, checkFlag, checkNames, checkWhole, notValid, type NamesOf } from '../check-options.js'
import { FAULT_KINDS, type FaultKind } from '../command/kind.js'

/** A record key as the client takes it. */
export type FaultKey = string | number | bigint | Buffer

/**
 * Commands that a fault meets; what is left out matches everything. The rows of a batch are matched one by one, each
 * with its own kind; the kind `batch`, or no condition at all, matches the call as a whole.
 */
export interface FaultMatch {
  readonly kind?: FaultKind | readonly FaultKind[]
  readonly namespace?: string
  readonly set?: string
  /** Needs `set` too: the digest of a record is made of both. */
  readonly key?: FaultKey
}

export interface FaultOptions extends FaultMatch {
  /** Matching commands that pass before the fault begins. Default 0. */
  readonly skip?: number
  /** Matching commands that meet the fault. Default 1. */
  readonly times?: number
  /** Answer with this result code. */
  readonly answer?: number
  /** Close the connection instead of answering. */
  readonly drop?: boolean
  /** Never answer, and keep the connection open. */
  readonly hang?: boolean
  /** Milliseconds to wait before the command runs, or with `after` alone before it is answered; on a row of a batch, before the batch is answered. */
  readonly delay?: number
  /** Let the command take effect first, and then `answer`, `drop` or `hang`, or `delay` its answer. */
  readonly after?: boolean
}

/** A fault in a form that crosses to the server's thread. */
export interface FaultRule {
  readonly kinds: readonly FaultKind[] | undefined
  readonly namespace: string | undefined
  readonly set: string | undefined
  readonly digest: string | undefined
  readonly skip: number
  readonly times: number
  readonly answer: number | undefined
  readonly drop: boolean
  readonly hang: boolean
  readonly delay: number
  readonly after: boolean
}

const FAULT: NamesOf<FaultOptions> = {
  kind: true,
  namespace: true,
  set: true,
  key: true,
  skip: true,
  times: true,
  answer: true,
  drop: true,
  hang: true,
  delay: true,
  after: true,
}

export function toRule(options: FaultOptions): FaultRule {
  checkNames('A fault', options, FAULT)
  const { key, set, answer, drop = false, hang = false, delay, skip = 0, times = 1, after = false } = options
  const kinds = typeof options.kind === 'string' ? [options.kind] : options.kind
  const unknown = kinds?.find((kind) => !FAULT_KINDS.includes(kind))
  if (unknown !== undefined)
    throw notValid(`There is no kind of command "${unknown}".`, `Use one of: ${FAULT_KINDS.join(', ')}.`)
  if (key !== undefined && set === undefined)
    throw notValid('A fault on a key needs its set.', 'Add `set`, for example { set: "agent", key: 17 }.')
  if (answer === undefined && !drop && !hang && delay === undefined)
    throw notValid('A fault needs something to do.', 'Give answer, drop, hang or delay, for example { answer: 14 }.')
  checkWhole('skip of a fault', skip, 0)
  checkWhole('times of a fault', times, 0)
  if (answer !== undefined) checkWhole('answer of a fault', answer, 0, 255)
  if (delay !== undefined) checkDuration('delay of a fault', delay)
  for (const [name, value] of Object.entries({ drop, hang, after })) checkFlag(`${name} of a fault`, value)
  return {
    kinds,
    namespace: options.namespace,
    set,
    digest: key === undefined ? undefined : digestOf(set!, key),
    skip,
    times,
    answer,
    drop,
    hang,
    delay: delay ?? 0,
    after,
  }
}

/** The digest Aerospike gives a record, as a byte string. */
export function digestOf(set: string, key: FaultKey): string {
  return createHash('ripemd160').update(set).update(keyBytes(key)).digest('binary')
}

function keyBytes(key: FaultKey): Buffer {
  if (typeof key === 'string') return Buffer.concat([Buffer.from([3]), Buffer.from(key)])
  if (Buffer.isBuffer(key)) return Buffer.concat([Buffer.from([4]), key])
  const bytes = Buffer.alloc(9)
  bytes[0] = 1
  bytes.writeBigInt64BE(BigInt(key), 1)
  return bytes
}
