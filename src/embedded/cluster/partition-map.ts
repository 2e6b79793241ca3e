import { PARTITIONS } from '../protocol/constants.js'

const NOBODY = -1

/** Nodes that hold each partition: its master, and the node that takes over from it. Every partition has its own order of nodes. */
export class PartitionMap {
  readonly #masters = new Int16Array(PARTITIONS).fill(NOBODY)
  readonly #replicas = new Int16Array(PARTITIONS).fill(NOBODY)

  /** `nodes`: the indexes of those that take part. */
  constructor(nodes: readonly number[]) {
    for (let partition = 0; partition < PARTITIONS; partition++) this.#assign(partition, nodes)
  }

  isMaster(node: number, partition: number): boolean {
    return this.#masters[partition] === node
  }

  holds(node: number, partition: number): boolean {
    return this.#masters[partition] === node || this.#replicas[partition] === node
  }

  partitionsOf(node: number): number[] {
    return [...this.#masters.keys()].filter((partition) => this.#masters[partition] === node)
  }

  /** The partitions that a node holds as a master and as a replica, a bit each. */
  bitmaps(node: number): readonly [masters: string, replicas: string] {
    return [bitmap(this.#masters, node), bitmap(this.#replicas, node)]
  }

  #assign(partition: number, nodes: readonly number[]): void {
    const [master = NOBODY, replica = NOBODY] = [...nodes].sort((a, b) => rank(partition, a) - rank(partition, b))
    this.#masters[partition] = master
    this.#replicas[partition] = replica
  }
}

/** A fixed random number, so that nodes share the partitions evenly and a node that leaves moves no others. */
function rank(partition: number, node: number): number {
  let mixed = Math.imul(partition * 64 + node + 1, 0x9e3779b1)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** The most significant bit comes first. */
function bitmap(owners: Int16Array, node: number): string {
  const bytes = Buffer.alloc(PARTITIONS / 8)
  owners.forEach((owner, partition) => {
    if (owner === node) bytes[partition >> 3] |= 0x80 >> (partition & 7)
  })
  return bytes.toString('base64')
}
