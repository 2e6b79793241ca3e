import { parentPort, workerData } from 'node:worker_threads'
import type { ResolvedOptions } from '../options.js'
import { advanceClock } from '../store/clock.js'
import type { Control, ControlCall, ControlReply } from './control.js'
import { AerospikeServer } from './server.js'

const port = parentPort!
const options = workerData as ResolvedOptions
const server = new AerospikeServer(options)

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
  close: () => server.close(),
}

const send = (reply: ControlReply) => port.postMessage(reply)

port.on('message', (call: ControlCall) => {
  const run = control[call.method].bind(control) as (...args: readonly unknown[]) => unknown
  void Promise.resolve(run(...call.args)).then((result) => send({ id: call.id, result }))
})

server.listen().then(
  (listening) => send({ ready: listening }),
  (error: NodeJS.ErrnoException) => send({ failed: error.message, code: error.code, port: options.port }),
)
