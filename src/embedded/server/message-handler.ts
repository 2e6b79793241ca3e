import { parseBatch } from '../command/batch.js'
import type { ClusterNode } from '../cluster/node.js'
import { commandKind } from '../command/kind.js'
import { runQuery } from '../command/query.js'
import { runRecordCommand } from '../command/record-command.js'
import type { FaultList } from '../faults/fault-list.js'
import type { FaultRule } from '../faults/fault.js'
import { ByteWriter } from '../protocol/byte-writer.js'
import { beginFrame, endFrame, outcome, writeLast, writeOutcome, type Outcome } from '../protocol/reply.js'
import { parseRequest, type Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { Store } from '../store/store.js'
import type { CommandLog } from './command-log.js'
import type { ReplyStream } from './reply-stream.js'

/** State of the connection after a message. */
export type Disposition = { reply: Buffer } | { drop: true } | { hang: true } | { streamed: true }

/** A batch reply is cut into frames of about this size. */
const FRAME_TARGET = 1 << 20

/** Raised inside a batch when a row's fault decides the fate of the whole connection. */
class Interrupted extends Error {
  constructor(readonly disposition: Disposition) {
    super('interrupted by a fault')
  }
}

/** Runs record commands, batches and queries, with the faults and the log around them. */
export class MessageHandler {
  readonly #writer = new ByteWriter()

  constructor(
    readonly store: Store,
    readonly faults: FaultList,
    readonly log: CommandLog,
    readonly node: ClusterNode,
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
    const kind = commandKind(request)
    if (kind === 'batch') return this.#batch(request, bytesIn)
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
    if (fault.delay > 0) await new Promise((resolve) => setTimeout(resolve, fault.delay))
    const ends = fault.drop || fault.hang || fault.answer !== undefined
    if (!ends) return this.#run(request, bytesIn, stream)
    if (fault.after) await this.#run(request, bytesIn, silent)
    else this.#logFault(request, bytesIn, fault)
    if (fault.drop) return { drop: true }
    if (fault.hang) return { hang: true }
    const many = commandKind(request) === 'batch' || commandKind(request) === 'query'
    return { reply: many ? this.#last(fault.answer!) : this.#single(outcome(fault.answer!)) }
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

  #batch(request: Request, bytesIn: number): Disposition | Promise<Disposition> {
    const writer = this.#writer
    writer.reset()
    let frame = beginFrame(writer)
    let code: number = ResultCode.OK
    let first: Request | undefined
    let rows = 0
    let delay = 0
    let then: Disposition | undefined
    try {
      const batch = parseBatch(request)
      batch.forEach((row, index) => {
        first ??= { ...row }
        rows++
        const fault = this.faults.any ? this.faults.meet(commandKind(row), row) : undefined
        if (fault) delay += fault.delay
        if (fault && !fault.after) interrupt(fault)
        let result = fault && !fault.after ? faultOutcome(fault) : undefined
        result ??= this.#runRecord(row)
        if (fault?.after) {
          then ??= dispositionOf(fault)
          if (fault.answer !== undefined) result = outcome(fault.answer)
        }
        writeOutcome(writer, result, index)
        if (writer.length - frame > FRAME_TARGET) {
          endFrame(writer, frame)
          frame = beginFrame(writer)
        }
        return batch.respondAll || isHarmless(result.code)
      })
    } catch (error) {
      if (error instanceof Interrupted) then = error.disposition
      else if (error instanceof CommandError) code = error.code
      else throw error
    }
    writeLast(writer, code)
    endFrame(writer, frame)
    const reply = writer.take()
    const { namespace = '', setName: set = '' } = first ?? {}
    this.log.add({ kind: 'batch', node: this.node.index, namespace, set, rows, bytesIn, bytesOut: reply.length, code })
    return afterDelay(delay, then ?? { reply })
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

function interrupt(fault: FaultRule): void {
  const disposition = dispositionOf(fault)
  if (disposition) throw new Interrupted(disposition)
}

function dispositionOf(fault: FaultRule): Disposition | undefined {
  if (fault.drop) return { drop: true }
  return fault.hang ? { hang: true } : undefined
}

function faultOutcome(fault: FaultRule): Outcome | undefined {
  return fault.answer === undefined ? undefined : outcome(fault.answer)
}

function isHarmless(code: number): boolean {
  return code === ResultCode.OK || code === ResultCode.NOT_FOUND || code === ResultCode.FILTERED_OUT
}

function afterDelay(delay: number, disposition: Disposition): Disposition | Promise<Disposition> {
  if (delay === 0) return disposition
  return new Promise((resolve) => setTimeout(() => resolve(disposition), delay))
}
