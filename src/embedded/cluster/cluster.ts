import { randomBytes } from 'node:crypto'
import { partitionOf } from '../store/namespace.js'
import type { QueryJobs } from '../store/query-jobs.js'
import type { Pace } from './pace.js'
import { PartitionMap } from './partition-map.js'

/** Partitions that nobody may serve for a while, as when they move from one node to another. */
interface HeldPartitions {
  readonly namespace: string | undefined
  readonly partitions: ReadonlySet<number> | undefined
}

/** Node of a cluster, as requests and info commands see it. */
export interface MemberNode {
  /** 15 hexadecimal digits, as of a real node. */
  readonly id: string
  readonly index: number
  readonly port: number
  readonly address: string
  /** `frozen`: connections are taken, and nothing is read or answered. */
  readonly state: 'up' | 'down' | 'frozen'
  readonly jobs: QueryJobs
  readonly pace: Pace
  readonly cluster: Cluster
  /** True for a partition that this node can read from start to end. */
  serves(namespace: string, partition: number): boolean
  isMaster(partition: number): boolean
  /** True for a partition that this node has, as its master or as a copy. */
  holds(partition: number): boolean
  /** Takes part in the cluster once it listens. */
  start(): Promise<void>
  /** Closes the port and all connections; commands that wait are not run. */
  kill(): Promise<void>
  freeze(): void
  /** Comes back as a process that was started again: requests received before are forgotten. */
  restart(): Promise<void>
}

/** Node, as a query sees it that was sent to it. */
export type QueryNode = Pick<MemberNode, 'jobs' | 'pace' | 'serves' | 'isMaster' | 'holds'>

/** The nodes of one server and how they share the partitions. All of them work on one store. */
export class Cluster {
  readonly nodes: MemberNode[] = []
  /** Grows whenever nodes come or go: clients then ask again who holds what. */
  generation = 1
  /** Name of this cluster of nodes; another one whenever a node comes or goes. */
  key = newKey()
  readonly #held = new Map<number, HeldPartitions>()
  #lastHold = 0
  #map = new PartitionMap([])

  get map(): PartitionMap {
    return this.#map
  }

  /** The nodes that take part: a frozen one is out, as if its heartbeats were missed. */
  get members(): readonly MemberNode[] {
    return this.nodes.filter((node) => node.state === 'up')
  }

  /** Shares the partitions anew among those that are there. */
  reform(): void {
    this.generation++
    this.key = newKey()
    this.#map = new PartitionMap(this.members.map(({ index }) => index))
  }

  /** `node`: only the partitions of which it is the master. */
  hold(namespace: string | undefined, node: number | undefined): number {
    const partitions = node === undefined ? undefined : new Set(this.#map.partitionsOf(node))
    this.#held.set(++this.#lastHold, { namespace, partitions })
    return this.#lastHold
  }

  release(hold: number): void {
    this.#held.delete(hold)
  }

  get hasHeld(): boolean {
    return this.#held.size > 0
  }

  isHeld(namespace: string, partition: number): boolean {
    for (const held of this.#held.values()) {
      if (held.namespace !== undefined && held.namespace !== namespace) continue
      if (held.partitions === undefined || held.partitions.has(partition)) return true
    }
    return false
  }

  isRecordHeld(namespace: string, digest: Buffer | undefined): boolean {
    return this.hasHeld && digest !== undefined && this.isHeld(namespace, partitionOf(digest))
  }
}

const newKey = (): string => randomBytes(6).toString('hex').toUpperCase()
