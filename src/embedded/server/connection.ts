import type { Socket } from 'node:net'
import { answerInfo } from '../info/answer-info.js'
import { FRAME_HEADER, FrameType } from '../protocol/constants.js'
import { ByteWriter } from '../protocol/byte-writer.js'
import { FrameReader, FramingError, type Frame } from '../protocol/frame-reader.js'
import { beginFrame, endFrame } from '../protocol/reply.js'
import type { Disposition } from './disposition.js'
import type { MessageHandler } from './message-handler.js'
import type { ReplyStream } from './reply-stream.js'
import { inflateMessage } from './inflate.js'
import { answerLogin } from './login.js'

/** Bytes that a client may send ahead of the answer it waits for. */
const MAX_AHEAD = 1 << 20

/** A client socket: a request, its reply, the next request. */
export class Connection implements ReplyStream {
  readonly #socket: Socket
  readonly #handler: MessageHandler
  readonly #frames: FrameReader
  #busy = false
  #hung = false

  constructor(socket: Socket, handler: MessageHandler, maxRequestSize: number) {
    this.#socket = socket
    this.#handler = handler
    this.#frames = new FrameReader(maxRequestSize)
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('drain', () => this.#goOn())
    // A client that goes away in mid-stream is ordinary; the close event does the rest.
    socket.on('error', () => socket.destroy())
  }

  get closed(): boolean {
    return this.#socket.destroyed
  }

  async write(bytes: Buffer): Promise<void> {
    if (this.closed || this.#socket.write(bytes)) return
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#socket.off('drain', done)
        this.#socket.off('close', done)
        resolve()
      }
      this.#socket.on('drain', done)
      this.#socket.on('close', done)
    })
  }

  #receive(chunk: Buffer): void {
    if (this.#hung) return
    this.#frames.push(chunk)
    if (!this.#busy) this.#pump()
    if (this.#frames.size > MAX_AHEAD && this.#isWaiting) this.#socket.pause()
  }

  /** A client is not listened to before its answer is ready, nor while it does not read its answers. */
  get #isWaiting(): boolean {
    return this.#busy || this.#socket.writableNeedDrain
  }

  #goOn(): void {
    if (!this.#busy) this.#pump()
    if (!this.#isWaiting && this.#socket.isPaused()) this.#socket.resume()
  }

  #pump(): void {
    try {
      while (!this.#socket.writableNeedDrain) {
        const frame = this.#frames.next()
        if (frame === undefined) return
        const pending = this.#handle(frame)
        if (pending === undefined) continue
        this.#busy = true
        pending.then(
          () => {
            this.#busy = false
            this.#goOn()
          },
          (error: unknown) => this.#fail(error),
        )
        return
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Nothing a client sends may bring the server down; what cannot be answered closes the connection. */
  #fail(error: unknown): void {
    if (!(error instanceof FramingError)) console.error('skein embedded server: closing a connection:', error)
    this.#socket.destroy()
  }

  #handle(frame: Frame): Promise<void> | undefined {
    const bytesIn = FRAME_HEADER + frame.body.length
    switch (frame.type) {
      case FrameType.MESSAGE:
        return this.#message(frame.body, bytesIn)
      case FrameType.COMPRESSED:
        return this.#compressed(frame.body, bytesIn)
      case FrameType.INFO:
        return this.#info(frame.body, bytesIn)
      case FrameType.SECURITY:
        this.#socket.write(answerLogin(this.#handler.store.enterprise))
        return undefined
    }
    throw new FramingError(`unknown message type ${frame.type}`)
  }

  #compressed(body: Buffer, bytesIn: number): Promise<void> | undefined {
    const message = inflateMessage(body, this.#frames.maxBody)
    if (!(message instanceof Promise)) return this.#message(message, bytesIn)
    return message.then((inflated) => this.#message(inflated, bytesIn))
  }

  #message(body: Buffer, bytesIn: number): Promise<void> | undefined {
    const { pace } = this.#handler.node
    const run = (): Disposition | Promise<Disposition> => this.#handler.handle(body, bytesIn, this)
    return this.#finish(pace.isSlow ? pace.turn().then(run) : run())
  }

  #finish(disposition: Disposition | Promise<Disposition>): Promise<void> | undefined {
    if (disposition instanceof Promise) return disposition.then((settled) => this.#settle(settled))
    this.#settle(disposition)
    return undefined
  }

  #settle(disposition: Disposition): void {
    if ('reply' in disposition) this.#socket.write(disposition.reply)
    else if ('drop' in disposition) this.#socket.resetAndDestroy()
    else if ('hang' in disposition) this.#hung = true
  }

  #info(body: Buffer, bytesIn: number): undefined {
    const text = answerInfo(this.#handler.store, body.toString('utf8'), this.#handler.node)
    const writer = new ByteWriter()
    const frame = beginFrame(writer, FrameType.INFO)
    writer.bytes(Buffer.from(text))
    endFrame(writer, frame)
    const bytesOut = writer.length
    const node = this.#handler.node.index
    this.#handler.log.add({ kind: 'info', node, namespace: '', set: '', rows: 1, bytesIn, bytesOut, code: 0 })
    this.#socket.write(writer.take())
  }
}
