import type { MemberNode } from '../cluster/cluster.js'
import { commandKind } from '../command/kind.js'
import { runQuery } from '../command/query.js'
import { runRecordCommand } from '../command/record-command.js'
import type { FaultList } from '../faults/fault-list.js'
import type { FaultRule } from '../faults/fault.js'
import { ByteWriter } from '../protocol/byte-writer.js'
import { beginFrame, endFrame, outcome, writeLast, writeOutcome, type Outcome } from '../protocol/reply.js'
import { requestBudget } from '../protocol/request-budget.js'
import { parseRequest, type Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { Store } from '../store/store.js'
import { BatchRun } from './batch-run.js'
import type { CommandLog } from './command-log.js'
import type { Disposition } from './disposition.js'
import type { ReplyStream } from './reply-stream.js'

/** Runs record commands, batches and queries, with the faults and the log around them. */
export class MessageHandler {
  readonly #writer = new ByteWriter()

  constructor(
    readonly store: Store,
    readonly faults: FaultList,
    readonly log: CommandLog,
    readonly node: MemberNode,
  ) {}

  /** `bytesIn` is the size of the frame as it arrived. */
  handle(body: Buffer, bytesIn: number, stream: ReplyStream): Disposition | Promise<Disposition> {
    let request: Request
    try {
      request = parseRequest(body)
    } catch (error) {
      if (error instanceof CommandError) return { reply: this.#single(outcome(error.code)) }
      throw error
    }
    const kind = commandKind(request)
    const fault = this.faults.any ? this.faults.meet(kind, request) : undefined
    if (fault) return this.#faulty(request, bytesIn, fault, stream)
    return this.#run(request, bytesIn, stream)
  }

  #run(request: Request, bytesIn: number, stream: ReplyStream): Disposition | Promise<Disposition> {
    requestBudget.begin(bytesIn)
    const kind = commandKind(request)
    if (kind === 'batch') return this.#batch(request, bytesIn, stream)
    if (kind === 'query') return this.#query(request, bytesIn, stream)
    const result = this.#runRecord(request)
    const reply = this.#single(result)
    const { namespace, setName: set } = request
    this.log.add({
      kind,
      node: this.node.index,
      namespace,
      set,
      rows: 1,
      bytesIn,
      bytesOut: reply.length,
      code: result.code,
    })
    return { reply }
  }

  #runRecord(request: Request): Outcome {
    if (this.node.cluster.isRecordHeld(request.namespace, request.digest)) {
      return outcome(ResultCode.PARTITION_UNAVAILABLE)
    }
    return runRecordCommand(this.store, request)
  }

  async #faulty(request: Request, bytesIn: number, fault: FaultRule, stream: ReplyStream): Promise<Disposition> {
    const ends = fault.drop || fault.hang || fault.answer !== undefined
    if (!ends && fault.after) return this.#answerLate(request, bytesIn, fault.delay, stream)
    if (fault.delay > 0) await passed(fault.delay)
    if (!ends) return this.#run(request, bytesIn, stream)
    if (fault.after) await this.#run(request, bytesIn, silent)
    else this.#logFault(request, bytesIn, fault)
    if (fault.drop) return { drop: true }
    if (fault.hang) return { hang: true }
    const many = commandKind(request) === 'batch' || commandKind(request) === 'query'
    return { reply: many ? this.#last(fault.answer!) : this.#single(outcome(fault.answer!)) }
  }

  /** Runs a command now and holds back all of its answer. */
  async #answerLate(request: Request, bytesIn: number, delay: number, stream: ReplyStream): Promise<Disposition> {
    const pieces: Buffer[] = []
    const hold = (bytes: Buffer): Promise<void> => {
      pieces.push(Buffer.from(bytes))
      return Promise.resolve()
    }
    const held: ReplyStream = { closed: false, write: hold }
    const end = await this.#run(request, bytesIn, held)
    await passed(delay)
    for (const piece of pieces) await stream.write(piece)
    return end
  }

  #logFault(request: Request, bytesIn: number, fault: FaultRule): void {
    const { namespace, setName: set } = request
    const code = fault.answer ?? ResultCode.UNKNOWN
    this.log.add({
      kind: commandKind(request),
      node: this.node.index,
      namespace,
      set,
      rows: 1,
      bytesIn,
      bytesOut: 0,
      code,
    })
  }

  #batch(request: Request, bytesIn: number, stream: ReplyStream): Disposition | Promise<Disposition> {
    const run = new BatchRun((row) => this.#runRecord(row), this.faults, this.#writer, request)
    if (!run.advance()) return this.#longBatch(run, bytesIn, stream)
    const reply = this.#writer.take()
    this.#logBatch(run, bytesIn, reply.length)
    return afterDelay(run.delay, run.ending ?? { reply })
  }

  /** Sends the answers of a long batch in pieces, and gives way to other connections between them. */
  async #longBatch(run: BatchRun, bytesIn: number, stream: ReplyStream): Promise<Disposition> {
    let bytesOut = 0
    for (let isDone = false; !stream.closed; isDone = run.advance()) {
      const piece = this.#writer.take()
      bytesOut += piece.length
      const goOn = requestBudget.pause()
      await stream.write(piece)
      if (isDone) break
      await new Promise<void>((resolve) => setImmediate(resolve))
      goOn()
    }
    this.#logBatch(run, bytesIn, bytesOut)
    return { streamed: true }
  }

  #logBatch({ first, rows, code }: BatchRun, bytesIn: number, bytesOut: number): void {
    const { namespace = '', setName: set = '' } = first ?? {}
    this.log.add({ kind: 'batch', node: this.node.index, namespace, set, rows, bytesIn, bytesOut, code })
  }

  async #query(request: Request, bytesIn: number, stream: ReplyStream): Promise<Disposition> {
    let bytesOut = 0
    const counted: ReplyStream = {
      get closed() {
        return stream.closed
      },
      write: (bytes) => {
        bytesOut += bytes.length
        return stream.write(bytes)
      },
    }
    const code = await runQuery(this.store, this.node, request, counted)
    const { namespace, setName: set } = request
    this.log.add({ kind: 'query', node: this.node.index, namespace, set, rows: 1, bytesIn, bytesOut, code })
    return { streamed: true }
  }

  #single(result: Outcome): Buffer {
    const writer = this.#writer
    writer.reset()
    const frame = beginFrame(writer)
    writeOutcome(writer, result)
    endFrame(writer, frame)
    return writer.take()
  }

  #last(code: number): Buffer {
    const writer = this.#writer
    writer.reset()
    const frame = beginFrame(writer)
    writeLast(writer, code)
    endFrame(writer, frame)
    return writer.take()
  }
}

const silent: ReplyStream = { closed: false, write: () => Promise.resolve() }

const passed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function afterDelay(delay: number, disposition: Disposition): Disposition | Promise<Disposition> {
  if (delay === 0) return disposition
  return new Promise((resolve) => setTimeout(() => resolve(disposition), delay))
}
