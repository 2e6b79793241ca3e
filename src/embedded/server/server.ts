import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { FaultList } from '../faults/fault-list.js'
import type { ResolvedOptions } from '../options.js'
import { Store } from '../store/store.js'
import { CommandLog } from './command-log.js'
import { Connection } from './connection.js'
import { MessageHandler } from './message-handler.js'

/** Never anything but loopback: there is no authentication. */
export const HOST = '127.0.0.1'

/** The server itself, without the thread around it. */
export class AerospikeServer {
  readonly store: Store
  readonly faults = new FaultList()
  readonly log: CommandLog
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor(readonly options: ResolvedOptions) {
    this.store = new Store(options)
    this.log = new CommandLog(options.limits.commandLog)
    const handler = new MessageHandler(this.store, this.faults, this.log)
    this.#server = createServer((socket) => this.#accept(socket, handler))
    this.#server.maxConnections = options.limits.maxConnections
  }

  /** Resolves with the port once it listens. */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ port: this.options.port, host: HOST, backlog: 1024 }, () => {
        this.#server.off('error', reject)
        const { port } = this.#server.address() as AddressInfo
        this.store.address = `${HOST}:${port}`
        this.store.startSweeping()
        resolve(port)
      })
    })
  }

  close(): Promise<void> {
    this.store.stopSweeping()
    for (const socket of this.#sockets) socket.destroy()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  #accept(socket: Socket, handler: MessageHandler): void {
    this.#sockets.add(socket)
    this.store.connections++
    socket.on('close', () => {
      this.#sockets.delete(socket)
      this.store.connections--
    })
    new Connection(socket, handler, this.options.limits.maxRequestSize)
  }
}
