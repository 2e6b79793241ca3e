import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { frame } from './raw-message.js'

export interface RawReply {
  readonly code: number
  readonly generation: number
  readonly voidTime: number
  /** `op id:name=value`, for example `1:a=2`. */
  readonly ops: readonly string[]
}

/** Gives the suite around it a connection to a server of its own, with an available namespace `test`. */
export function useRawClient(use: (client: RawClient, server: EmbeddedServer) => void): void {
  let server: EmbeddedServer | undefined
  let client: RawClient | undefined
  before(async () => {
    server = await startEmbedded({ namespaces: ['test:ap'] })
    use((client = await RawClient.connect(server.port)), server)
  })
  after(async () => {
    client?.close()
    await server?.stop()
  })
}

/** A connection that speaks the protocol byte by byte. */
export class RawClient {
  readonly #socket: Socket
  #received = Buffer.alloc(0)

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => (this.#received = Buffer.concat([this.#received, chunk])))
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    return new RawClient(socket)
  }

  /** Sends a message and reads its one-frame answer. */
  async send(message: Buffer): Promise<RawReply> {
    return parseReply(await this.#ask(frame(3, message)))
  }

  /** Sends a batch and reads the result codes of its rows, in the order of their answers, and then that of the whole. */
  async batch(message: Buffer): Promise<number[]> {
    const codes: number[] = []
    for (let body = await this.#ask(frame(3, message)); ; body = await this.#next()) {
      for (let at = 0; at < body.length; at = endOf(body, at)) {
        codes.push(body[at + 5])
        if (body[at + 3] & LAST) return codes
      }
    }
  }

  /** Sends an info request and reads the values of its answer by name. */
  async info(text: string): Promise<Record<string, string>> {
    const lines = (await this.#ask(frame(1, Buffer.from(text)))).toString().split('\n').filter(Boolean)
    return Object.fromEntries(lines.map((line) => line.split('\t') as [string, string]))
  }

  async #ask(request: Buffer): Promise<Buffer> {
    this.#socket.write(request)
    return this.#next()
  }

  async #next(): Promise<Buffer> {
    while (this.#received.length < 8 || this.#received.length < 8 + this.#received.readUIntBE(2, 6)) {
      await once(this.#socket, 'data')
    }
    const end = 8 + this.#received.readUIntBE(2, 6)
    const body = this.#received.subarray(8, end)
    this.#received = this.#received.subarray(end)
    return body
  }

  close(): void {
    this.#socket.destroy()
  }
}

const LAST = 1

/** The end of a message that starts at `start`. */
function endOf(body: Buffer, start: number): number {
  let at = start + 22
  const parts = body.readUInt16BE(start + 18) + body.readUInt16BE(start + 20)
  for (let i = 0; i < parts; i++) at += 4 + body.readUInt32BE(at)
  return at
}

function parseReply(body: Buffer): RawReply {
  let at = 22
  for (let fields = body.readUInt16BE(18); fields > 0; fields--) at += 4 + body.readUInt32BE(at)
  const ops: string[] = []
  for (let count = body.readUInt16BE(20); count > 0; count--) {
    const end = at + 4 + body.readUInt32BE(at)
    const nameEnd = at + 8 + body[at + 7]
    const name = body.toString('utf8', at + 8, nameEnd)
    ops.push(`${body[at + 4]}:${name}=${printParticle(body[at + 5], body.subarray(nameEnd, end))}`)
    at = end
  }
  return { code: body[5], generation: body.readUInt32BE(6), voidTime: body.readUInt32BE(10), ops }
}

function printParticle(type: number, value: Buffer): string {
  switch (type) {
    case 0:
      return 'nil'
    case 1:
      return String(value.readBigInt64BE())
    case 3:
      return JSON.stringify(value.toString())
  }
  return `${type}:${value.toString('hex')}`
}
