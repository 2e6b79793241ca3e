import { Cluster, type MemberNode } from '../cluster/cluster.js'
import { ClusterNode } from '../cluster/node.js'
import { FaultList } from '../faults/fault-list.js'
import type { ResolvedOptions } from '../options.js'
import { Store } from '../store/store.js'
import { CommandLog } from './command-log.js'

/** The server itself, without the thread around it: one store, and the nodes through which clients reach it. */
export class AerospikeServer {
  readonly store: Store
  readonly faults = new FaultList()
  readonly log: CommandLog
  readonly cluster = new Cluster()

  constructor(readonly options: ResolvedOptions) {
    this.store = new Store(options)
    if (options.file !== undefined) this.store.keepIn(options.file)
    this.log = new CommandLog(options.limits.commandLog)
    for (let i = 0; i < options.nodes; i++) this.#newNode(options.port === 0 ? 0 : options.port + i)
  }

  /** Resolves once all nodes listen. */
  async listen(): Promise<readonly MemberNode[]> {
    await this.store.indexesReady()
    for (const node of this.cluster.nodes) await node.start()
    this.store.startSweeping()
    return this.cluster.nodes
  }

  /** Adds a node, which takes its share of the partitions. */
  async addNode(): Promise<ClusterNode> {
    const node = this.#newNode(0)
    await node.start()
    return node
  }

  async close(): Promise<void> {
    this.store.stopSweeping()
    await Promise.all(this.cluster.nodes.map((node) => node.kill()))
    this.store.journal?.close()
  }

  #newNode(port: number): ClusterNode {
    const { store, faults, log, cluster } = this
    const node = new ClusterNode(cluster.nodes.length, { store, faults, log, cluster }, port)
    cluster.nodes.push(node)
    return node
  }
}
