import { Worker } from 'node:worker_threads'
import type { SkeinError } from '../errors/index.js'
import { checkDuration, checkNames, notValid, type NamesOf } from './check-options.js'
import { lockFile } from './file-lock.js'
import { toRule, type FaultOptions } from './faults/fault.js'
import { resolveOptions, type EmbeddedOptions } from './options.js'
import type { CommandSummary } from './server/command-log.js'
import type { NodeAddress } from './server/control.js'
import { ServerThread } from './server-thread.js'

const HOST = '127.0.0.1'

/** A fault that was put in place. */
export interface Fault {
  /** Number of commands that have met it so far. */
  hits(): Promise<number>
  remove(): Promise<void>
}

/** Makes the server misbehave on demand. Each call takes effect before it resolves. */
export interface Faults {
  /**
   * @example
   * await server.faults.add({ kind: 'write', set: 'agent', answer: 14 })             // the next write is told: key busy
   * await server.faults.add({ kind: 'write', skip: 2, drop: true, after: true })     // the third takes effect, its answer is lost
   */
  add(options: FaultOptions): Promise<Fault>
  clear(): Promise<void>
}

/** Requests that the server has seen since it started, or since the last reset. */
export interface Commands {
  summary(): Promise<CommandSummary>
  reset(): Promise<void>
  /** The commands that a piece of work causes. */
  during(work: () => Promise<unknown>): Promise<CommandSummary>
}

/** A node of the embedded cluster. Each call takes effect before it resolves. */
export interface EmbeddedNode {
  /** As the client names it: `client.getNodes()`. */
  readonly id: string
  readonly host: string
  readonly port: number
  /** Closes its port and its connections; the other nodes take over its partitions. */
  kill(): Promise<void>
  /** Takes connections and requests, and answers nothing; the other nodes take over. */
  freeze(): Promise<void>
  /** Each command waits that many milliseconds before it runs; 0 ends it. */
  slow(milliseconds: number): Promise<void>
  /** Comes back on the same port, as fast as at first; it forgets requests that it has not run. */
  restart(): Promise<void>
}

/** Partitions that nobody serves; what is left out means all. */
export interface MovingPartitions {
  readonly namespace?: string
  /** Only those of which this node is the master now. */
  readonly node?: EmbeddedNode
}

export interface EmbeddedServer {
  readonly host: string
  readonly port: number
  /** `host:port` of each node, as the client takes it. */
  readonly hosts: string
  /** In the order in which they joined. */
  readonly nodes: readonly EmbeddedNode[]
  /** Adds a node, which takes over its share of the partitions. */
  addNode(): Promise<EmbeddedNode>
  /** Answers 11 (partition unavailable), as while partitions move between nodes, until the result is called. */
  movePartitions(which?: MovingPartitions): Promise<() => Promise<void>>
  /** Indexes that are created from now on are built up to this per cent, and answer 203 (not readable), until the result is called. */
  holdIndexes(percent: number): Promise<() => Promise<void>>
  readonly faults: Faults
  readonly commands: Commands
  readonly clock: {
    /** Moves the server's time forward, so that records and transactions expire without waiting. */
    advance(seconds: number): Promise<void>
  }
  /** Resolves when the server has ended: with the reason when it ended by itself, which happens when its memory is full. */
  readonly ended: Promise<SkeinError | undefined>
  /** Ends the server and its thread. Calling it again does nothing. */
  stop(): Promise<void>
}

/**
 * Starts an Aerospike-protocol server in a thread of its own, in memory, on the loopback address. For development and
 * tests; every client can talk to it.
 *
 * @example
 * const server = await startEmbedded({ namespaces: ['test:sc', 'cache:ap'] })
 * const client = await Aerospike.connect({ hosts: server.hosts })
 * …
 * await server.stop()
 */
export async function startEmbedded(options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const resolved = resolveOptions(options)
  const locked = resolved.file === undefined ? undefined : lockFile(resolved.file)
  const file = new URL('./server/worker.js', import.meta.url)
  // Without the flags of this process: some of them, such as --input-type, keep a thread from starting.
  const thread = new ServerThread(new Worker(file, { workerData: { ...resolved, file: locked?.path }, execArgv: [] }))
  const ended = thread.ended.finally(locked?.unlock)
  const addresses = await thread.ready.catch(async (error: unknown) => {
    await ended
    throw error
  })
  const nodes = addresses.map((address, i) => embeddedNode(thread, address, i))
  const [{ host, port }] = nodes
  const server: EmbeddedServer = {
    host,
    port,
    hosts: nodes.map((node) => `${node.host}:${node.port}`).join(','),
    nodes,
    addNode: async () => {
      const node = embeddedNode(thread, await thread.call('addNode'), nodes.length)
      nodes.push(node)
      return node
    },
    movePartitions: async (which = {}) => {
      checkNames('movePartitions()', which, MOVING)
      const { namespace, node } = which
      if (namespace !== undefined && !resolved.namespaces.some(({ name }) => name === namespace))
        throw notValid(
          `The server has no namespace "${namespace}".`,
          `Use one of: ${resolved.namespaces.map(({ name }) => name).join(', ')}.`,
        )
      if (node !== undefined && !nodes.includes(node))
        throw notValid('The node does not belong to this server.', 'Use one of server.nodes.')
      const hold = await thread.call('holdPartitions', namespace, node === undefined ? undefined : nodes.indexOf(node))
      return () => thread.call('releasePartitions', hold)
    },
    holdIndexes: async (percent) => {
      if (!Number.isInteger(percent) || percent < 0 || percent > 99)
        throw notValid(`${String(percent)} is not a share of an index.`, 'Give a whole number from 0 to 99.')
      await thread.call('holdIndexes', percent)
      return () => thread.call('releaseIndexes')
    },
    faults: {
      add: async (fault) => {
        const id = await thread.call('addFault', toRule(fault))
        return { hits: () => thread.call('faultHits', id), remove: () => thread.call('removeFault', id) }
      },
      clear: () => thread.call('clearFaults'),
    },
    commands: {
      summary: () => thread.call('commands'),
      reset: () => thread.call('resetCommands'),
      during: async (work) => {
        await thread.call('resetCommands')
        await work()
        return thread.call('commands')
      },
    },
    clock: {
      advance: async (seconds) => {
        checkDuration('The seconds by which the clock advances', seconds)
        await thread.call('advanceClock', seconds)
      },
    },
    ended,
    stop: async () => {
      await thread.stop()
      await ended
    },
  }
  threads.set(server, thread)
  return server
}

const MOVING: NamesOf<MovingPartitions> = { namespace: true, node: true }

function embeddedNode(thread: ServerThread, { id, port }: NodeAddress, index: number): EmbeddedNode {
  return {
    id,
    host: HOST,
    port,
    kill: () => thread.call('killNode', index),
    freeze: () => thread.call('freezeNode', index),
    slow: async (milliseconds) => {
      checkDuration('The milliseconds by which a node is slow', milliseconds, ' To stop it altogether, use freeze().')
      await thread.call('slowNode', index, milliseconds)
    },
    restart: () => thread.call('restartNode', index),
  }
}

const threads = new WeakMap<EmbeddedServer, ServerThread>()

/** Waits for the last work of a server's clients, and stops it; one that is stuck is stopped at once. */
export async function stopAfter(server: EmbeddedServer, work: Promise<void>): Promise<void> {
  await threads.get(server)!.stopAfter(work)
}
