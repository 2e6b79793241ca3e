import Aerospike from 'aerospike'
import { connectOfficialClient } from './official-client.js'

// Run by lifetime.test.ts: a process that has stopped its servers must end without being told to.
const { Key } = Aerospike
const one = await connectOfficialClient()
const two = await connectOfficialClient({ namespaces: ['cache:ap'] })
await one.client.put(new Key('test', 'demo', 1), { a: 1 }, { ttl: 100 })
await two.client.put(new Key('cache', 'demo', 1), { a: 1 })
await one.server.faults.add({ kind: 'write', delay: 60_000 })
await one.close()
await two.server.stop()
two.client.close()
console.log('stopped')
