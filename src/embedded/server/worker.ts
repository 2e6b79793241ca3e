import { parentPort, workerData } from 'node:worker_threads'
import { useBuild } from '../build.js'
import type { ClusterNode } from '../cluster/node.js'
import type { ResolvedOptions } from '../options.js'
import { advanceClock } from '../store/clock.js'
import type { Control, ControlCall, ControlReply, NodeAddress } from './control.js'
import { AerospikeServer } from './server.js'

const port = parentPort!
const options = workerData as ResolvedOptions
useBuild(options.build)
const server = new AerospikeServer(options)

const address = ({ id, port }: ClusterNode): NodeAddress => ({ id, port })

const control: Control = {
  addFault: (rule) => server.faults.add(rule),
  removeFault: (id) => server.faults.remove(id),
  clearFaults: () => server.faults.clear(),
  faultHits: (id) => server.faults.hits(id),
  commands: () => server.log.summary(),
  resetCommands: () => server.log.reset(),
  advanceClock: (seconds) => {
    advanceClock(seconds)
    for (const namespace of server.store.namespaces.values()) namespace.transactions.sweep()
  },
  killNode: (node) => server.cluster.nodes[node].kill(),
  freezeNode: (node) => server.cluster.nodes[node].freeze(),
  slowNode: (node, milliseconds) => server.cluster.nodes[node].pace.set(milliseconds),
  restartNode: (node) => server.cluster.nodes[node].restart(),
  addNode: async () => address(await server.addNode()),
  holdPartitions: (namespace, node) => server.cluster.hold(namespace, node),
  releasePartitions: (hold) => server.cluster.release(hold),
  ping: () => undefined,
  close: () => server.close(),
}

const send = (reply: ControlReply) => port.postMessage(reply)

port.on('message', (call: ControlCall) => {
  const run = control[call.method].bind(control) as (...args: readonly unknown[]) => unknown
  void Promise.resolve(run(...call.args)).then(
    (result) => send({ id: call.id, result }),
    (error: Error) => send({ id: call.id, refused: error.message }),
  )
})

server.listen().then(
  (nodes) => send({ ready: nodes.map(address) }),
  (error: NodeJS.ErrnoException) => send({ failed: error.message, code: error.code, port: options.port }),
)
