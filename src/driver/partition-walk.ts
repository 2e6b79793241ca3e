import type { QueryCommand } from '../plan/query-command.js'
import type { FoundRecord } from './outcome.js'
import type { Patience, QueryRunner } from './query-runner.js'
import { compareDigests, partitionOf, readPosition, showPosition, type Position } from './query-position.js'

const PARTITIONS = 4096
/** Records that are held at a time. */
const LIMIT = 1000
/** How much narrower the next try is where there was too much. */
const NARROWER = 8
/** Share of the limit that the next step is to find, as far as the last one tells. */
const AIM = 0.75

/** What a walk may be given beside its query. */
export interface WalkOptions {
  readonly signal?: AbortSignal
  /** Told after each step which share of the partitions has been read, from 0 to 1. */
  readonly onStep?: (share: number) => void
}

/** A page of a query in its order, and the position of the next one. */
export interface QueryPage {
  readonly records: readonly FoundRecord[]
  /** Undefined when there are no more. */
  readonly next: string | undefined
}

interface Step {
  /** How many partitions were read. */
  readonly width: number
  /** How many to read next. */
  readonly next: number
  readonly records: readonly FoundRecord[] | undefined
}

/**
 * Walks over the partitions, in steps that are as wide as the memory allows: few matches are one query for all partitions. The order
 * is that of partitions and digests, which no change of other records moves: whatever stays is found exactly once.
 */
export class PartitionWalk {
  readonly #runner: QueryRunner
  readonly #limit: number

  constructor(runner: QueryRunner, limit = LIMIT) {
    this.#runner = runner
    this.#limit = limit
  }

  /** All records, a bounded number at a time; the next are asked for when these have been taken. */
  async *all(command: QueryCommand, { signal, onStep }: WalkOptions = {}): AsyncGenerator<readonly FoundRecord[]> {
    for (let begin = 0, width = PARTITIONS; begin < PARTITIONS;) {
      const step = await this.#step(command, begin, width, signal)
      width = step.next
      begin += step.width
      if (step.records === undefined) yield* this.#runner.pages(command, begin - step.width, this.#limit, signal)
      else if (step.records.length > 0) yield step.records
      onStep?.(begin / PARTITIONS)
    }
  }

  /** `count` records, whichever are found first, or all where there are fewer. */
  some(command: QueryCommand, count: number, signal?: AbortSignal): Promise<readonly FoundRecord[]> {
    return this.#runner.some(command, count, signal)
  }

  /** The `count` records that follow a position. */
  async page(command: QueryCommand, count: number, after?: string, signal?: AbortSignal): Promise<QueryPage> {
    const from = after === undefined ? { partition: 0, width: PARTITIONS } : readPosition(after)
    const found: FoundRecord[] = []
    let width = from.width
    for (let begin = from.partition; begin < PARTITIONS;) {
      const step = await this.#step(command, begin, width, signal)
      width = step.next
      // One more than is needed tells that there is a next page.
      const wanted = count - found.length + 1
      const records = step.records ?? (await this.#smallest(command, begin, wanted, from, signal))
      found.push(...inOrder(records, from).slice(0, wanted))
      if (found.length > count) {
        const last = found[count - 1]
        const next = showPosition({ partition: partitionOf(last.digest), width: aim(step, count), digest: last.digest })
        return { records: found.slice(0, count), next }
      }
      begin += step.width
    }
    return { records: found, next: undefined }
  }

  /** Reads as many partitions as `width` says, or fewer; no records when even one partition holds too many. */
  async #step(command: QueryCommand, begin: number, most: number, signal: AbortSignal | undefined): Promise<Step> {
    const patience: Patience = {}
    for (let width = Math.min(most, PARTITIONS - begin); ; width = this.#narrower(width, patience)) {
      const records = await this.#runner.records(command, { begin, count: width }, this.#limit, signal, patience)
      if (records === undefined && width > 1) continue
      return { width, next: records === undefined ? 1 : this.#nextWidth(width, records.length), records }
    }
  }

  /** As many partitions as a try that was cut off has shown to fit, or a share of what was too much. */
  #narrower(width: number, { density }: Patience): number {
    const fitting = density === undefined ? width / NARROWER : (AIM * this.#limit) / density
    return Math.max(1, Math.min(Math.floor(fitting), Math.floor(width / 2)))
  }

  #nextWidth(width: number, found: number): number {
    return Math.max(1, Math.min(PARTITIONS, Math.floor((width * AIM * this.#limit) / Math.max(1, found))))
  }

  /** The first few of a partition that holds many, without holding the others. */
  async #smallest(
    command: QueryCommand,
    partition: number,
    count: number,
    from: Position,
    signal: AbortSignal | undefined,
  ): Promise<readonly FoundRecord[]> {
    let kept: FoundRecord[] = []
    for await (const records of this.#runner.pages(command, partition, this.#limit, signal)) {
      kept = inOrder([...kept, ...records], from).slice(0, count)
    }
    return kept
  }
}

/** As many partitions as hold about two pages. */
function aim({ width, records }: Step, count: number): number {
  if (records === undefined) return 1
  return Math.max(1, Math.min(width, Math.ceil((width * 2 * count) / records.length)))
}

function inOrder(records: readonly FoundRecord[], { digest }: Position): FoundRecord[] {
  const left = digest === undefined ? [...records] : records.filter((each) => compareDigests(each.digest, digest) > 0)
  return left.sort((a, b) => compareDigests(a.digest, b.digest))
}
