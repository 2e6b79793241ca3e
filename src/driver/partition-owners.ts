import type { RecordKey } from '../plan/record-key.js'
import type { ClientCalls, ClientNode } from './aerospike-client.js'
import { partitionOfKey } from './partition-of.js'

const PARTITIONS = 4096
/** Interval at which the client itself asks its cluster. */
const INTERVAL = 1000
/** A node that takes longer is left out: other nodes soon claim its partitions. */
const INFO = { timeout: 1000 }
/** Pause of those who wait for an answer. */
const BETWEEN_LOOKS = 50
const CHANGES = ['nodeAdded', 'nodeRemoved'] as const

/**
 * Delay after which the client has heard what the nodes say at the latest, unless it tells of a node that came or went. Until then it still sends commands to the
 * old node: they must not take the place of others in the new one's lane.
 */
const LAG = 5000

/** The lane of every key while there is only one node, or while it is not known which node holds what. */
export const COMMON_LANE = 0

/**
 * Finds the node that is the master of a record, so that commands can be queued by node. The client knows it, but does
 * not tell; so this asks the nodes, as the client does. Only a hint: the client sends every command where it belongs, whatever is said here.
 */
export class PartitionOwners {
  readonly #client: ClientCalls
  /** Called when keys may be on other nodes than before. */
  readonly #changed: (() => void)[] = []
  readonly #laneOfNode = new Map<string, number>()
  readonly #generations = new Map<string, string>()
  /** Lanes of nodes that did not answer when they were asked last. */
  readonly #silent = new Set<number>()
  /** False where all keys have one lane; set with the lanes. */
  areMany = false
  #lanes: ReadonlyMap<string, Int16Array> | undefined
  /** Last answers of the nodes, and since when. */
  #newest: { readonly lanes: ReadonlyMap<string, Int16Array>; readonly since: number } | undefined
  /** Time at which a node came or went: the client may need one more look of its own to know all that it means. */
  #changedAt = -Infinity
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #isStopped = false

  constructor(client: ClientCalls) {
    this.#client = client
  }

  /** A number for the node of a key; those of two nodes differ. */
  laneOf(key: RecordKey): number {
    return this.#lanes?.get(key.namespace)?.[partitionOfKey(key)] ?? COMMON_LANE
  }

  onChange(listener: () => void): void {
    this.#changed.push(listener)
  }

  /** Resolves when the nodes of these keys answer, or others have taken over from them; at the latest after that many milliseconds. */
  async untilAnswering(keys: Iterable<RecordKey>, patience: number): Promise<void> {
    const own = [...keys]
    for (const began = performance.now(); performance.now() - began < patience;) {
      await this.#looking
      await this.#look()
      const isQuiet = performance.now() - this.#changedAt > INTERVAL
      if (isQuiet && !own.some((key) => this.#silent.has(this.laneOf(key)))) return
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS))
    }
  }

  /** Resolves when it is known which node holds what, as far as they answer. */
  async start(): Promise<void> {
    for (const event of CHANGES) this.#client.on(event, this.#onChange)
    await this.#learn()
  }

  /**
   * Resolves when the client knows of as many nodes as the cluster has, as far as its nodes tell; at the latest after that many milliseconds. Where there is only one
   * node, at once.
   */
  async untilSettled(patience: number): Promise<void> {
    if (!this.areMany) return
    for (const began = performance.now(); performance.now() - began < patience;) {
      const nodes = this.#client.getNodes()
      const sizes = await Promise.all(nodes.map((node) => this.#clusterSize(node)))
      if (sizes.every((size) => size === nodes.length)) return
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS))
    }
  }

  /** Undefined when the node does not answer. */
  async #clusterSize(node: ClientNode): Promise<number | undefined> {
    const statistics = await this.#info('statistics', node).catch(() => '')
    const size = /(?:^|;)cluster_size=(\d+)/.exec(statistics)?.[1]
    return size === undefined ? undefined : Number(size)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    for (const event of CHANGES) this.#client.off(event, this.#onChange)
    await this.#looking
  }

  /** The client knows of the change, and by now who holds what. */
  async #learn(): Promise<void> {
    await this.#looking
    await this.#look()
    if (this.#newest !== undefined && this.#newest.lanes !== this.#lanes) this.#use(this.#newest.lanes)
  }

  readonly #onChange = (): void => {
    this.#changedAt = performance.now()
    void this.#learn()
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #lookNow(): Promise<void> {
    clearTimeout(this.#timer)
    if (this.#isStopped) return
    const nodes = this.#client.getNodes()
    this.#forgetGone(nodes)
    if (nodes.length > 1) await this.#readMap(nodes)
    else if (this.#lanes !== undefined) {
      this.#newest = undefined
      this.#use(undefined)
    }
    if (nodes.length < 2 || this.#isStopped) return
    this.#timer = setTimeout(() => void this.#look(), INTERVAL)
    this.#timer.unref()
  }

  /** A node that comes back may have the generation it had before. */
  #forgetGone(nodes: readonly ClientNode[]): void {
    const names = new Set(nodes.length > 1 ? nodes.map(({ name }) => name) : [])
    for (const name of this.#generations.keys()) if (!names.has(name)) this.#generations.delete(name)
  }

  async #readMap(nodes: readonly ClientNode[]): Promise<void> {
    const changed = await Promise.all(nodes.map((node) => this.#changedMapOf(node)))
    if (changed.some((map) => map !== undefined)) {
      const lanes = new Map([...(this.#newest?.lanes ?? [])].map(([name, owners]) => [name, owners.slice()]))
      nodes.forEach(({ name }, i) => claim(lanes, changed[i] ?? '', this.#laneOf(name)))
      this.#newest = { lanes, since: performance.now() }
    } else if (this.#newest !== undefined && this.#newest.lanes !== this.#lanes) {
      if (performance.now() - this.#newest.since > LAG) this.#use(this.#newest.lanes)
    }
  }

  /** The namespaces and partitions of a node; undefined when they are as before, or when it does not answer. */
  async #changedMapOf(node: ClientNode): Promise<string | undefined> {
    try {
      const generation = await this.#info('partition-generation', node)
      this.#silent.delete(this.#laneOf(node.name))
      if (this.#generations.get(node.name) === generation) return undefined
      const map = await this.#info('replicas', node)
      this.#generations.set(node.name, generation)
      return map
    } catch {
      this.#generations.delete(node.name)
      this.#silent.add(this.#laneOf(node.name))
      return undefined
    }
  }

  async #info(request: string, node: ClientNode): Promise<string> {
    const answer = await this.#client.infoNode(request, node, INFO)
    return answer.slice(answer.indexOf('\t') + 1).trim()
  }

  #laneOf(node: string): number {
    const lane = this.#laneOfNode.get(node) ?? this.#laneOfNode.size + 1
    this.#laneOfNode.set(node, lane)
    return lane
  }

  #use(lanes: ReadonlyMap<string, Int16Array> | undefined): void {
    this.#lanes = lanes
    this.areMany = lanes !== undefined
    for (const listener of this.#changed) listener()
  }
}

/** `namespace:regime,count,masters,replicas…;…`, where `masters` is a bit for each partition in base64. */
function claim(lanes: Map<string, Int16Array>, replicas: string, lane: number): void {
  for (const entry of replicas.split(';')) {
    const [namespace, rest = ''] = entry.split(':')
    const masters = rest.split(',')[2]
    if (masters === undefined) continue
    const bits = Buffer.from(masters, 'base64')
    let owners = lanes.get(namespace)
    if (owners === undefined) lanes.set(namespace, (owners = new Int16Array(PARTITIONS)))
    for (let partition = 0; partition < PARTITIONS; partition++) {
      if (bits[partition >> 3] & (0x80 >> (partition & 7))) owners[partition] = lane
    }
  }
}
