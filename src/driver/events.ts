import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'
import type { Command } from '../plan/command.js'
import type { QueryCommand } from '../plan/query-command.js'
import type { SplitDone } from '../plan/split-access.js'
import { showKey, type UserKey } from '../plan/record-key.js'
import { showCommandWithValues, type Reveal } from '../plan/show-command.js'
import { splitEvent, splitLine } from './split-event.js'
import { queryKind, showQuery } from '../plan/show-query.js'
import { commandBytes, queryBytes } from '../plan/wire-bytes.js'

/** Published on `skein:command` when a command has been answered. */
export interface CommandEvent {
  readonly class: string
  /** `query`: records that an index finds. `scan`: those of a whole set. */
  readonly kind: Command['kind'] | 'query' | 'scan'
  readonly namespace: string
  readonly set: string
  /** Only when `reveal.keys` was asked for. */
  readonly key?: UserKey
  /** The command in one line, as `explain()` prints it; with `reveal.values` also its operations and their values. */
  readonly text: string
  /** Milliseconds of the round trip. */
  readonly ms: number
  /** About how many bytes were sent. */
  readonly bytes: number
  /** Number of records that a query or scan returned. */
  readonly records?: number
  /** Commands with the same number shared one round trip. */
  readonly roundTrip: number
  /** Number of commands that shared it. */
  readonly rows: number
  /** The server's result code; 0 is success. */
  readonly code: number
  /** 1 for the first try. */
  readonly attempt: number
  readonly inTransaction: boolean
  /** The `id` of the session that sent it; absent for calls of the database, such as `db.read`. */
  readonly session?: number
}

/** Published on `skein:warning`. */
export interface WarningEvent {
  /** `recordSize`: a record has grown past a size. `collectionSize`: the model expects a collection to do so. */
  readonly warning: 'recordSize' | 'collectionSize'
  readonly class: string
  readonly namespace: string
  readonly set: string
  readonly key?: UserKey
  readonly bin?: string
  /** The collection that is expected to grow. */
  readonly property?: string
  readonly size: number
  readonly limit: number
  readonly message: string
}

/** Published on `skein:transaction` when a transaction has ended. */
export interface TransactionEvent {
  readonly id: number
  readonly state: 'committed' | 'aborted' | 'inDoubt'
  readonly ms: number
  readonly writes: number
}

/** Published on `skein:flush` by the session when a flush has ended. */
export interface FlushEvent {
  /** Records that were to be written or deleted. */
  readonly commands: number
  /** Number of them that are done. */
  readonly written: number
  readonly stages: number
  /** About how many bytes were sent. */
  readonly bytes: number
  readonly ms: number
  /** The `id` of the session. */
  readonly session: number
  /** Error that the caller of the flush got. Without `reveal.keys` only a `HiddenError`: errors name keys. */
  readonly error?: unknown
}

/** Stand-in for an error whose message and details may not be shown. */
export interface HiddenError {
  readonly name: string
  readonly code?: string | number
  readonly cause?: HiddenError
}

const commandChannel = channel('skein:command')
const warningChannel = channel('skein:warning')
const transactionChannel = channel('skein:transaction')
export const flushChannel = channel('skein:flush')
const splitChannel = channel('skein:split')

/** Runs a function in the asynchronous context of a caller, where its `AsyncLocalStorage` has the values it had there. */
export type InContext = ReturnType<typeof AsyncLocalStorage.snapshot>

/** The caller's context, while somebody listens: the client answers in a context of its own. */
export const callerContext = (): InContext | undefined =>
  commandChannel.hasSubscribers ? AsyncLocalStorage.snapshot() : undefined

const SESSION = new AsyncLocalStorage<number>()

/** Runs the function so that commands it makes are known to be of that session. */
export const inSession = <T>(session: number, work: () => T): T => SESSION.run(session, work)

/** The session that is at work, while somebody listens. */
export const callerSession = (): number | undefined => (commandChannel.hasSubscribers ? SESSION.getStore() : undefined)

/** Advice against a large record, by its class, its set and the bin that grows most. */
type SizeAdvice = (entity: string, set: string, bin: string | undefined) => string

/** Publishes what one database does; costs nothing while nobody listens. */
export class Events {
  readonly #reveal: Reveal
  readonly #print: ((line: string) => void) | undefined
  #advise: SizeAdvice = () => ''
  #roundTrips = 0
  #together: number | undefined

  constructor(reveal: Reveal, print?: (line: string) => void) {
    this.#reveal = reveal
    this.#print = print
  }

  /** Takes over who knows the classes and can say what helps against a large record. */
  adviseBy(advise: SizeAdvice): void {
    this.#advise = advise
  }

  get isWatched(): boolean {
    return this.#print !== undefined || commandChannel.hasSubscribers
  }

  get hearsWarnings(): boolean {
    return this.#print !== undefined || warningChannel.hasSubscribers
  }

  nextRoundTrip(): number {
    return this.#together ?? ++this.#roundTrips
  }

  /** Calls that are made meanwhile count as one round trip: they leave at once, one to each node. */
  together(send: () => void): void {
    this.#together = ++this.#roundTrips
    try {
      send()
    } finally {
      this.#together = undefined
    }
  }

  command(
    command: Command,
    facts: Pick<CommandEvent, 'ms' | 'roundTrip' | 'rows' | 'code' | 'attempt' | 'inTransaction' | 'session'>,
    inContext?: InContext,
  ): void {
    const { namespace, set, key } = command.key
    const text = showCommandWithValues(command, this.#reveal)
    const event: CommandEvent = {
      class: command.entity,
      kind: command.kind,
      namespace,
      set,
      ...(this.#reveal.keys ? { key } : {}),
      text,
      bytes: commandBytes(command),
      ...facts,
    }
    if (inContext === undefined) commandChannel.publish(event)
    else inContext(() => commandChannel.publish(event))
    this.#print?.(commandLine(event))
  }

  query(command: QueryCommand, facts: Pick<CommandEvent, 'ms' | 'records' | 'code' | 'attempt'>): void {
    const event: CommandEvent = {
      class: command.entity,
      kind: queryKind(command),
      namespace: command.namespace,
      set: command.set,
      text: showQuery(command, this.#reveal),
      bytes: queryBytes(command),
      roundTrip: this.nextRoundTrip(),
      rows: 1,
      // The client's transactions do not reach queries.
      inTransaction: false,
      session: callerSession(),
      ...facts,
    }
    commandChannel.publish(event)
    this.#print?.(commandLine(event))
  }

  recordSize(command: Command, size: number, limit: number, bin: string | undefined): void {
    const { namespace, set, key } = command.key
    const where = bin === undefined ? '' : `, mostly in bin '${bin}'`
    const subject = this.#reveal.keys ? `${command.entity} ${showKey(command.key)}` : command.entity
    const message =
      `${subject} has grown to ${size} bytes${where}; past ${limit} bytes every read and write of it is slow. ${this.#advise(command.entity, set, bin)}`.trim()
    const event: WarningEvent = {
      warning: 'recordSize',
      class: command.entity,
      namespace,
      set,
      ...(this.#reveal.keys ? { key } : {}),
      bin,
      size,
      limit,
      message,
    }
    this.warn(event)
  }

  warn(event: WarningEvent): void {
    warningChannel.publish(event)
    this.#print?.(`skein warning  ${event.message}`)
  }

  flush(event: FlushEvent): void {
    const { error } = event
    flushChannel.publish(this.#reveal.keys || error === undefined ? event : { ...event, error: hide(error) })
  }

  split(done: SplitDone): void {
    splitChannel.publish(splitEvent(done, this.#reveal, hide))
    this.#print?.(splitLine(done))
  }

  transaction(event: TransactionEvent): void {
    transactionChannel.publish(event)
    this.#print?.(`skein transaction ${event.state}  ${event.writes} writes  ${event.ms.toFixed(1)} ms`)
  }
}

function hide(error: unknown): HiddenError {
  if (!(error instanceof Error)) return { name: typeof error }
  const { name, code, cause } = error as Error & Pick<HiddenError, 'code'>
  return {
    name,
    ...(code === undefined ? {} : { code }),
    ...(cause === undefined ? {} : { cause: hide(cause) }),
  }
}

function commandLine(event: CommandEvent): string {
  const shared = event.rows > 1 ? `  with ${event.rows - 1} others` : ''
  const again = event.attempt > 1 ? `  try ${event.attempt}` : ''
  const failed = event.code === 0 ? '' : `  code ${event.code}`
  const found = event.records === undefined ? '' : `  ${event.records} records`
  return `skein ${event.ms.toFixed(1).padStart(7)} ms  ${event.text}${found}${failed}${shared}${again}`
}

type Call = (...args: unknown[]) => unknown

/** The driver for one session; while somebody listens, events of its commands name the session. */
export function driverOf<D extends object>(driver: D, session: number): D {
  if (!commandChannel.hasSubscribers) return driver
  return new Proxy(driver, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        const made = inSession(session, () => (value as Call).apply(target, args))
        return isGenerator(made) ? steppedIn(session, made) : made
      }
    },
  })
}

/** A generator works in the context of whoever asks for the next value. */
function steppedIn(session: number, steps: AsyncGenerator): AsyncGenerator {
  const named: AsyncGenerator = {
    next: () => inSession(session, () => steps.next()),
    return: (value) => inSession(session, () => steps.return(value)),
    throw: (error) => inSession(session, () => steps.throw(error)),
    [Symbol.asyncIterator]: () => named,
  }
  return named
}

const isGenerator = (value: unknown): value is AsyncGenerator =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value
