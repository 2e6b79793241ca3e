import { parentPort, workerData } from 'node:worker_threads'
import { useBuild } from '../build.js'
import type { MemberNode } from '../cluster/cluster.js'
import { UnusableFileError } from '../journal/unusable-file.js'
import type { ResolvedOptions } from '../options.js'
import { advanceClock } from '../store/clock.js'
import type { Control, ControlCall, ControlReply, NodeAddress } from './control.js'
import { AerospikeServer } from './server.js'

const port = parentPort!
const options = workerData as ResolvedOptions
useBuild(options.build)
const address = ({ id, port }: MemberNode): NodeAddress => ({ id, port })

const controlOf = (server: AerospikeServer): Control => ({
  addFault: (rule) => server.faults.add(rule),
  removeFault: (id) => server.faults.remove(id),
  clearFaults: () => server.faults.clear(),
  faultHits: (id) => server.faults.hits(id),
  commands: () => server.log.summary(),
  resetCommands: () => server.log.reset(),
  advanceClock: (seconds) => {
    advanceClock(seconds)
    server.store.journal?.clock()
    for (const namespace of server.store.namespaces.values()) namespace.transactions.sweep()
  },
  killNode: (node) => server.cluster.nodes[node].kill(),
  freezeNode: (node) => server.cluster.nodes[node].freeze(),
  slowNode: (node, milliseconds) => server.cluster.nodes[node].pace.set(milliseconds),
  restartNode: (node) => server.cluster.nodes[node].restart(),
  addNode: async () => address(await server.addNode()),
  holdPartitions: (namespace, node) => server.cluster.hold(namespace, node),
  releasePartitions: (hold) => server.cluster.release(hold),
  holdIndexes: (percent) => {
    for (const { indexBuilds } of server.store.namespaces.values()) indexBuilds.hold(percent)
  },
  releaseIndexes: () => {
    for (const { indexBuilds } of server.store.namespaces.values()) indexBuilds.release()
  },
  ping: () => undefined,
  close: () => server.close(),
})

const send = (reply: ControlReply) => port.postMessage(reply)

function obey(control: Control): void {
  port.on('message', (call: ControlCall) => {
    const run = control[call.method].bind(control) as (...args: readonly unknown[]) => unknown
    void new Promise((resolve) => resolve(run(...call.args))).then(
      (result) => send({ id: call.id, result }),
      (error: Error) => send({ id: call.id, refused: error.message }),
    )
  })
}

async function start(): Promise<void> {
  try {
    const server = new AerospikeServer(options)
    obey(controlOf(server))
    send({ ready: (await server.listen()).map(address) })
  } catch (error) {
    if (error instanceof UnusableFileError) return send({ unusable: error.message, fix: error.fix })
    const { message, code } = error as NodeJS.ErrnoException
    send({ failed: message, code, port: options.port })
  }
}

await start()
