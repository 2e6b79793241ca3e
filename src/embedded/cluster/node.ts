import { randomBytes } from 'node:crypto'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { FaultList } from '../faults/fault-list.js'
import type { CommandLog } from '../server/command-log.js'
import { Connection } from '../server/connection.js'
import { MessageHandler } from '../server/message-handler.js'
import { QueryJobs } from '../store/query-jobs.js'
import type { Store } from '../store/store.js'
import type { Cluster, MemberNode } from './cluster.js'
import { Pace } from './pace.js'

/** Never anything but loopback: there is no authentication. */
const HOST = '127.0.0.1'

interface NodeParts {
  readonly store: Store
  readonly faults: FaultList
  readonly log: CommandLog
  readonly cluster: Cluster
}

/** A node: a port, the connections to it, and how it behaves at the moment. */
export class ClusterNode implements MemberNode {
  readonly id = `BB9${randomBytes(6).toString('hex').toUpperCase()}`
  readonly jobs = new QueryJobs()
  readonly pace = new Pace()
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  state: MemberNode['state'] = 'down'
  #port: number

  constructor(
    readonly index: number,
    readonly parts: NodeParts,
    port: number,
  ) {
    this.#port = port
    const { maxConnections, maxRequestSize } = parts.store.options.limits
    const handler = new MessageHandler(parts.store, parts.faults, parts.log, this)
    this.#server = createServer((socket) => this.#accept(socket, handler, maxRequestSize))
    this.#server.maxConnections = maxConnections
  }

  get port(): number {
    return this.#port
  }

  get address(): string {
    return `${HOST}:${this.#port}`
  }

  get cluster(): Cluster {
    return this.parts.cluster
  }

  serves(namespace: string, partition: number): boolean {
    return this.holds(partition) && !this.cluster.isHeld(namespace, partition)
  }

  isMaster(partition: number): boolean {
    return this.cluster.map.isMaster(this.index, partition)
  }

  holds(partition: number): boolean {
    return this.cluster.map.holds(this.index, partition)
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ port: this.#port, host: HOST, backlog: 1024 }, () => {
        this.#server.off('error', reject)
        resolve()
      })
    })
    this.#port = (this.#server.address() as AddressInfo).port
    this.#become('up')
  }

  async kill(): Promise<void> {
    if (this.state === 'down') return
    this.#become('down')
    this.#forgetWork()
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  freeze(): void {
    if (this.state !== 'up') return
    this.#become('frozen')
    this.#forgetWork()
    for (const socket of this.#sockets) hold(socket)
  }

  async restart(): Promise<void> {
    await this.kill()
    this.pace.set(0)
    await this.start()
  }

  #forgetWork(): void {
    this.pace.drop()
    this.jobs.stop()
  }

  #become(state: ClusterNode['state']): void {
    this.state = state
    this.cluster.reform()
  }

  #accept(socket: Socket, handler: MessageHandler, maxRequestSize: number): void {
    const { store } = this.parts
    // The socket was accepted before the port was closed, and nobody else would close it.
    if (this.state === 'down') return void socket.destroy()
    this.#sockets.add(socket)
    store.connections++
    socket.on('close', () => {
      this.#sockets.delete(socket)
      store.connections--
    })
    new Connection(socket, handler, maxRequestSize)
    if (this.state === 'frozen') hold(socket)
  }
}

/** Nothing is read any more, and nothing leaves. */
function hold(socket: Socket): void {
  socket.pause()
  socket.cork()
}
