import type { QueryCommand } from '../plan/query-command.js'
import type { FoundRecord } from './outcome.js'
import type { Found, Patience, QueryRunner } from './query-runner.js'
import { asFound, type Take } from './arrivals.js'
import { compareDigests, partitionOf, readPosition, showPosition, type Position } from './query-position.js'
import { StepWidths } from './step-widths.js'

const PARTITIONS = 4096
/** Bytes that a step is to hold at most, as far as earlier ones tell: so that large records come in smaller steps. */
const STEP_BYTES = 4 * 1024 * 1024
/** Records of the try over all partitions, which are thrown away where there are more. */
const FIRST_TRY = 1000
/** Records of the smallest step of a page. */
const PAGE_LEAST = 250
/** Factor by which the next try is narrower where there was too much. */
const NARROWER = 8
/** Share of the limit that the next step is to find, as far as the last one tells. */
const AIM = 0.75

/** Options of a walk beside its query. */
export interface WalkOptions {
  readonly signal?: AbortSignal
  /** Called after each step with the share of the partitions that has been read, from 0 to 1. */
  readonly onStep?: (share: number) => void
  /** Steps that are read while one is being used; each holds up to `limits.queryRecords` records. */
  readonly ahead?: number
}

/** A page of a query in its order, and the position of the next one. */
export interface QueryPage {
  readonly records: readonly FoundRecord[]
  /** Undefined when there are no more. */
  readonly next: string | undefined
}

/** A range of partitions whose step has been asked for. */
interface Asked<R> {
  readonly begin: number
  readonly width: number
  readonly step: Promise<Step<R>>
}

interface Step<R> {
  /** Number of partitions that were read. */
  readonly width: number
  /** Number of partitions to read next. */
  readonly next: number
  readonly records: readonly R[] | undefined
}

/**
 * Walks over the partitions, in steps that are as wide as the memory allows: few matches are one query for all partitions. The order
 * is that of partitions and digests, which no change of other records moves: whatever stays is found exactly once.
 */
export class PartitionWalk {
  readonly #runner: QueryRunner
  readonly #limit: number
  readonly #widths = new StepWidths()

  constructor(runner: QueryRunner, limit: number) {
    this.#runner = runner
    this.#limit = limit
  }

  /** All records, a bounded number at a time; the steps that follow, up to `ahead`, are read while these are being used. */
  async *all<R>(command: QueryCommand, take: Take<R>, options: WalkOptions = {}): AsyncGenerator<readonly R[]> {
    const { signal, onStep, ahead = 0 } = options
    const asked: Asked<R>[] = []
    const id = this.#widths.idOf(command)
    let width = this.#widths.get(id) ?? PARTITIONS
    // Partitions before it have been asked for.
    let end = 0
    const ask = (): void => {
      asked.push(this.#ask(command, end, Math.min(width, PARTITIONS - end), take, signal))
      end = endOf(asked.at(-1)!)
    }
    try {
      // The width is known from an earlier walk: the first steps are read side by side.
      while (width < PARTITIONS && asked.length < ahead && end < PARTITIONS) ask()
      while (asked.length > 0 || end < PARTITIONS) {
        if (asked.length === 0) ask()
        const { begin, width: wanted, step } = asked.shift()!
        const { width: read, next, records } = await step
        width = next
        this.#widths.set(id, next < PARTITIONS ? next : undefined)
        // A step that held too much was narrowed: the rest of its range comes before those that were asked for after it.
        if (read < wanted && asked.length > 0)
          asked.unshift(this.#ask(command, begin + read, wanted - read, take, signal))
        else if (read < wanted) end = begin + read
        while (asked.length < ahead && end < PARTITIONS) ask()
        // Progress comes before the records, because their reader asks how far they reach.
        onStep?.((begin + read) / PARTITIONS)
        if (records === undefined) yield* this.#pages(command, begin, take, signal)
        else if (records.length > 0) yield records
      }
    } finally {
      // Nothing is under way any more when the caller is told that all has ended.
      await Promise.allSettled(asked.map(({ step }) => step))
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
    const limit = Math.min(this.#limit, Math.max(PAGE_LEAST, 4 * count))
    let width = from.width
    for (let begin = from.partition; begin < PARTITIONS;) {
      const step = await this.#step(command, begin, width, asFound, signal, limit)
      width = step.next
      // Asks for one more than is needed, to know whether there is a next page.
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

  #ask<R>(
    command: QueryCommand,
    begin: number,
    width: number,
    take: Take<R>,
    signal: AbortSignal | undefined,
  ): Asked<R> {
    const step = this.#step(command, begin, width, take, signal)
    // Thrown again where it is awaited.
    step.catch(() => undefined)
    return { begin, width, step }
  }

  /** Reads as many partitions as `width` says, or fewer; no records when even one partition holds too many. */
  async #step<R>(
    command: QueryCommand,
    begin: number,
    most: number,
    take: Take<R>,
    signal: AbortSignal | undefined,
    limit = this.#limit,
  ): Promise<Step<R>> {
    const patience: Patience = {}
    for (let width = Math.min(most, PARTITIONS - begin); ; width = narrower(width, limit, patience)) {
      const held = width === PARTITIONS ? Math.min(FIRST_TRY, limit) : limit
      const found = await this.#runner.records(command, { begin, count: width }, held, take, signal, patience)
      if (found === undefined && width > 1) continue
      return { width, next: found === undefined ? 1 : nextWidth(width, limit, found), records: found?.records }
    }
  }

  async *#pages<R>(
    command: QueryCommand,
    partition: number,
    take: Take<R>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly R[]> {
    for await (const records of this.#runner.pages(command, partition, this.#limit, signal)) yield records.map(take)
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

/** As many partitions as a try that was cut off has shown to fit, or a share of what was too much. */
function narrower(width: number, limit: number, { density, size }: Patience): number {
  const fitting = density === undefined ? width / NARROWER : fittingRecords(limit, size!) / density
  return Math.max(1, Math.min(Math.floor(fitting), Math.floor(width / 2)))
}

function nextWidth(width: number, limit: number, { records, bytes }: Found<unknown>): number {
  const count = Math.max(1, records.length)
  return Math.max(1, Math.min(PARTITIONS, Math.floor((width * fittingRecords(limit, bytes / count)) / count)))
}

/** Number of records of this size that a step is to find. */
const fittingRecords = (limit: number, size: number): number => Math.min(AIM * limit, STEP_BYTES / Math.max(1, size))

const endOf = ({ begin, width }: Asked<unknown>): number => begin + width

/** As many partitions as hold about two pages. */
function aim({ width, records }: Step<unknown>, count: number): number {
  if (records === undefined) return 1
  return Math.max(1, Math.min(width, Math.ceil((width * 2 * count) / records.length)))
}

function inOrder(records: readonly FoundRecord[], { digest }: Position): FoundRecord[] {
  const left = digest === undefined ? [...records] : records.filter((each) => compareDigests(each.digest, digest) > 0)
  return left.sort((a, b) => compareDigests(a.digest, b.digest))
}
