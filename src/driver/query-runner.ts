import { SkeinError } from '../errors/index.js'
import { and, type Expression } from '../plan/expression.js'
import type { QueryCommand } from '../plan/query-command.js'
import type { ClientCalls, ClientError, ClientQuery, ClientQueryOptions } from './aerospike-client.js'
import { Arrivals, asFound, eachOnce, foundRecord, isFoundOnce, type Take } from './arrivals.js'
import { failureOf } from './command-errors.js'
import { encodeExpression } from './encode-expression.js'
import type { Events } from './events.js'
import type { ExactReads } from './exact-reads.js'
import type { Gates } from './gates.js'
import { indexFilter } from './index-filter.js'
import { indexProgress } from './list-indexes.js'
import type { RetryOptions } from './options.js'
import type { FoundRecord } from './outcome.js'
import type { Policies } from './policies.js'
import { queryError } from './query-errors.js'
import { Tries } from './retry.js'
import { CODE, isTransient } from './status.js'

interface QueryParts {
  readonly client: ClientCalls
  readonly policies: Policies
  readonly retry: RetryOptions
  readonly gates: Gates
  readonly events: Events
  readonly exact: ExactReads | undefined
}

/** A range of the 4,096 partitions that the records of a namespace are spread over. */
interface Partitions {
  readonly begin: number
  readonly count: number
}

const ALL_PARTITIONS = 4096

/** The tries since the last answer, and what a try that was cut off has shown. */
export interface Patience {
  tries?: Tries
  /** Records that a partition seems to have. */
  density?: number
  /** Bytes that a record seems to have. */
  size?: number
}

/** All records of some partitions, and about how many bytes they are. */
export interface Found<R> {
  readonly records: readonly R[]
  readonly bytes: number
}

/** Sends queries of bounded size: the client's own stream would deliver faster than anybody may be able to take. */
export class QueryRunner {
  readonly #parts: QueryParts

  constructor(parts: QueryParts) {
    this.#parts = parts
  }

  /** The records in these partitions, each once; undefined when it must be tried with fewer of them: there may be more than `limit`, or one did not answer. */
  async records<R>(
    command: QueryCommand,
    partitions: Partitions,
    limit: number,
    take: Take<R>,
    signal?: AbortSignal,
    patience: Patience = {},
  ): Promise<Found<R> | undefined> {
    if (isFoundOnce(command)) return this.#below(command, partitions, limit, take, signal, patience)
    const found: Found<FoundRecord>[] = []
    for (const each of [command, ...(command.others ?? [])]) {
      const part = await this.#below(each, partitions, limit, asFound, signal, patience)
      if (part === undefined) return undefined
      found.push(part)
    }
    const all = eachOnce(
      command,
      found.map(({ records }) => records),
    )
    const bytes = found.reduce((sum, part) => sum + part.bytes, 0)
    return all.length < limit ? { records: all.map(take), bytes } : undefined
  }

  /** Some records of all partitions: `count` of them, or all where there are fewer. */
  async some(command: QueryCommand, count: number, signal?: AbortSignal): Promise<readonly FoundRecord[]> {
    const found: FoundRecord[][] = []
    for (const each of [command, ...(command.others ?? [])]) {
      found.push((await this.#some(each, { begin: 0, count: ALL_PARTITIONS }, count, asFound, signal))!.records)
      const all = eachOnce(command, found)
      if (all.length >= count) return all.slice(0, count)
    }
    return eachOnce(command, found)
  }

  /** The records of one partition, page by page. */
  async *pages(
    command: QueryCommand,
    partition: number,
    limit: number,
    signal?: AbortSignal,
  ): AsyncGenerator<readonly FoundRecord[]> {
    if (command.others !== undefined) {
      // Too rare for pages: more than the limit in a single partition, found by several lookups.
      const all = [command, ...command.others].map((each) => this.#wholePartition(each, partition, signal))
      yield eachOnce(command, await Promise.all(all))
    } else if (!mayPage(command)) yield await this.#wholePartition(command, partition, signal)
    else yield* this.#pages(command, partition, limit, signal)
  }

  async *#pages(
    command: QueryCommand,
    partition: number,
    limit: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<FoundRecord[]> {
    const { client } = this.#parts
    let query: ClientQuery | undefined
    do {
      const found = await this.#try(command, signal, (options, policy) => {
        if (query === undefined) {
          query = client.query(command.namespace, command.set, { ...options, maxRecords: limit, paginate: true })
          // Of one partition the saved state is small; of all of them it is 100 kB a page.
          query.partitions(partition, 1)
        }
        return query
          .results(policy)
          .then((records) => records.map((record) => this.#found(command, foundRecord(record))))
      })
      yield found!
    } while (query!.hasNextPage())
  }

  async #wholePartition(
    command: QueryCommand,
    partition: number,
    signal: AbortSignal | undefined,
  ): Promise<FoundRecord[]> {
    return (await this.#some(command, { begin: partition, count: 1 }, undefined, asFound, signal))!.records
  }

  /** The records of these partitions where there are fewer than `limit`. */
  async #below<R>(
    command: QueryCommand,
    partitions: Partitions,
    limit: number,
    take: Take<R>,
    signal: AbortSignal | undefined,
    patience: Patience,
  ): Promise<Found<R> | undefined> {
    const arrivals = await this.#some(command, partitions, limit, take, signal, patience)
    if (arrivals === undefined || arrivals.length < limit) return arrivals?.checked()
    patience.density = arrivals.density
    patience.size = arrivals.bytes / arrivals.length
    return undefined
  }

  /** At least `limit` records of these partitions, where there are that many; undefined when it failed and fewer partitions may do. */
  async #some<R>(
    command: QueryCommand,
    { begin, count }: Partitions,
    limit: number | undefined,
    take: Take<R>,
    signal: AbortSignal | undefined,
    patience?: Patience,
  ): Promise<Arrivals<R> | undefined> {
    const { client } = this.#parts
    // Each node gets an equal share of the maximum; as long as all of them together stay below one share, nothing was cut off.
    const most = limit === undefined ? {} : { maxRecords: limit * Math.max(1, client.getNodes().length) }
    return this.#try(
      command,
      signal,
      (options, policy) => {
        const query = client.query(command.namespace, command.set, { ...options, ...most })
        query.partitions(begin, count)
        return Arrivals.of(query.foreach(policy), this.#taking(command, take))
      },
      patience === undefined ? {} : { patience, isNarrowable: count > 1 },
    )
  }

  /** Takes records with their lists and maps, where those come as raw bytes. */
  #taking<R>(command: QueryCommand, take: Take<R>): Take<R> {
    return this.#isExact(command) ? (record) => take(this.#found(command, record)) : take
  }

  #found(command: QueryCommand, record: FoundRecord): FoundRecord {
    if (!this.#isExact(command)) return record
    return { ...record, bins: this.#parts.exact!.decoded(command.set, record.bins) as FoundRecord['bins'] }
  }

  #isExact({ set, raw }: QueryCommand): boolean {
    return raw !== true && this.#parts.exact?.has(set) === true
  }

  async #try<F extends { readonly length: number }>(
    command: QueryCommand,
    signal: AbortSignal | undefined,
    call: (options: ClientQueryOptions, policy: ReturnType<Policies['query']>) => Promise<F>,
    { patience = {}, isNarrowable = false }: { patience?: Patience; isNarrowable?: boolean } = {},
  ): Promise<F | undefined> {
    const { gates, policies, retry, events, exact } = this.#parts
    const { options, filter } = clientQuery(command)
    const decoded = policies.query(filter)
    const isRaw = command.raw === true || exact?.has(command.set) === true
    const policy = isRaw ? { ...decoded, deserialize: false } : decoded
    for (;;) {
      const attempt = patience.tries?.count ?? 1
      let pause: number
      signal?.throwIfAborted()
      await gates.spanning.enter()
      const began = performance.now()
      const tell = (code: number, records: number): void => {
        if (events.isWatched) events.query(command, { ms: performance.now() - began, records, code, attempt })
      }
      try {
        const found = await call(options, policy)
        tell(CODE.OK, found.length)
        signal?.throwIfAborted()
        return found
      } catch (error) {
        signal?.throwIfAborted()
        const { code } = failureOf(error as ClientError)
        tell(code, 0)
        const isPassing = isTransient(code) || code === CODE.INDEX_NOT_READABLE
        const wait = isPassing ? (patience.tries ??= new Tries()).next(retry) : undefined
        if (wait === undefined) throw queryError(command, error as ClientError, await this.#built(command, code))
        pause = wait
      } finally {
        gates.spanning.leave()
      }
      await new Promise((resolve) => setTimeout(resolve, pause))
      if (isNarrowable) return undefined
    }
  }

  /** Per cent of the index that is built, where that is what the query waits for. */
  async #built({ namespace, index }: QueryCommand, code: number): Promise<number | undefined> {
    if (code !== CODE.INDEX_NOT_READABLE || index === undefined) return undefined
    return indexProgress(this.#parts.client, namespace, index.name).catch(() => undefined)
  }
}

/** The query as the client takes it, and the filter that goes with it. */
export function clientQuery(command: QueryCommand): { options: ClientQueryOptions; filter?: string } {
  const { index, bins, filter } = command
  const select = bins === 'all' ? {} : bins === 'none' ? { nobins: true } : { select: bins }
  if (index === undefined) return { options: select, filter: encodeFilter(command, filter) }
  const { filter: where, exact } = indexFilter(index)
  const both = exact === undefined ? filter : filter === undefined ? exact : and(exact, filter)
  return { options: { ...select, filters: [where] }, filter: encodeFilter(command, both) }
}

/** Most bytes of an expression that a server compiles. */
const MOST_BYTES = 1024 * 1024

function encodeFilter({ entity, namespace, set }: QueryCommand, filter: Expression | undefined): string | undefined {
  if (filter === undefined) return undefined
  const encoded = encodeExpression(filter)
  const bytes = Math.floor(encoded.length * 0.75)
  if (bytes <= MOST_BYTES) return encoded
  const message = `The conditions of a query for ${entity} take ${bytes.toLocaleString('en')} bytes, and a server takes at most 1 MiB.`
  const fix = 'Compare with shorter values, or ask in several queries.'
  throw new SkeinError('SKEIN_2510', message, { className: entity, namespace, set, fix })
}

/** Paging by bytes crashes the client, and a context or an expression does not last until the next page. */
const mayPage = ({ index }: QueryCommand): boolean =>
  !(index?.value instanceof Uint8Array) && index?.steps === undefined && index?.expression === undefined
