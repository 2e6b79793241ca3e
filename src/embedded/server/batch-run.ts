import { parseBatch, type Batch } from '../command/batch.js'
import { commandKind } from '../command/kind.js'
import type { FaultList } from '../faults/fault-list.js'
import type { FaultRule } from '../faults/fault.js'
import type { ByteWriter } from '../protocol/byte-writer.js'
import { beginFrame, endFrame, outcome, writeLast, writeOutcome, type Outcome } from '../protocol/reply.js'
import { requestBudget } from '../protocol/request-budget.js'
import type { Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { Disposition } from './disposition.js'

/** A reply is cut into frames of about this size; the next rows wait until the client has taken it. */
const FRAME_TARGET = 1 << 20
/** Longer work than this would be felt by the other connections. */
const SLICE_MS = 50
const ROWS_PER_LOOK = 16

/** A batch while its rows run, one after the other. */
export class BatchRun {
  /** The result code of the whole. */
  code: number = ResultCode.OK
  rows = 0
  /** The first row, for the log. */
  first: Request | undefined
  /** Replaces the answer where a row met a fault that ends the connection. */
  ending: Disposition | undefined
  /** Milliseconds by which faults hold back the answer. */
  delay = 0
  #batch: Batch | undefined
  #frame = 0

  constructor(
    readonly run: (request: Request) => Outcome,
    readonly faults: FaultList,
    readonly writer: ByteWriter,
    readonly request: Request,
  ) {}

  /** Writes the answers of the next rows; true when the batch is done, false when others should have their turn. */
  advance(): boolean {
    this.writer.reset()
    this.#frame = beginFrame(this.writer)
    const isDone = this.#runRows()
    if (isDone) writeLast(this.writer, this.code)
    endFrame(this.writer, this.#frame)
    return isDone
  }

  #runRows(): boolean {
    const started = performance.now()
    try {
      this.#batch ??= parseBatch(this.request)
      const { rows, respondAll } = this.#batch
      for (let request = rows.next(); request !== undefined; request = rows.next()) {
        this.first ??= { ...request }
        this.rows++
        requestBudget.nextRecord()
        const result = this.#runRow(request)
        if (result === undefined) return true
        writeOutcome(this.writer, result, rows.index)
        if (!respondAll && !isHarmless(result.code)) return true
        if (this.#isTurnOver(started)) return false
      }
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      this.code = error.code
    }
    return true
  }

  /** The answer of a row; undefined where a fault ends the batch there. */
  #runRow(request: Request): Outcome | undefined {
    const fault = this.faults.any ? this.faults.meet(commandKind(request), request) : undefined
    if (fault === undefined) return this.run(request)
    this.delay += fault.delay
    const answer = fault.answer === undefined ? undefined : outcome(fault.answer)
    const ending = endingOf(fault)
    if (!fault.after) {
      this.ending = ending ?? this.ending
      return ending ? undefined : (answer ?? this.run(request))
    }
    const result = this.run(request)
    this.ending ??= ending
    return answer ?? result
  }

  #isTurnOver(started: number): boolean {
    const isFull = this.writer.length - this.#frame > FRAME_TARGET
    // While there are faults nothing is sent before the last row: it may decide that there is no answer.
    if (!this.faults.any) {
      return isFull || (this.rows % ROWS_PER_LOOK === 0 && performance.now() - started > SLICE_MS)
    }
    if (isFull) {
      endFrame(this.writer, this.#frame)
      this.#frame = beginFrame(this.writer)
    }
    return false
  }
}

function endingOf(fault: FaultRule): Disposition | undefined {
  if (fault.drop) return { drop: true }
  return fault.hang ? { hang: true } : undefined
}

function isHarmless(code: number): boolean {
  return code === ResultCode.OK || code === ResultCode.NOT_FOUND || code === ResultCode.FILTERED_OUT
}
