import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { isNamedServer, startTestServer, type TestServer } from '../server.js'

const SKEIN = new URL('../../../dist/cli/main.js', import.meta.url).pathname

/**
 * The server that is measured on: the cluster of `AEROSPIKE_HOSTS`, or an embedded one in a process of its own, as a server is,
 * so that its collector and compiler are not those of the callers.
 */
export async function startBenchServer(): Promise<Pick<TestServer, 'hosts' | 'namespaces' | 'stop'>> {
  if (isNamedServer) return startTestServer()
  const child = spawn(process.execPath, [SKEIN, 'serve', '--port', '0', '-n', 'test:sc', '-n', 'cache:ap'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const line = await Promise.race([once(lines, 'line') as Promise<[string]>, ended.then(() => undefined)])
  if (line === undefined) throw new Error('The embedded server did not start.')
  return {
    hosts: line[0].replace('listening on ', ''),
    namespaces: ['test', 'cache'],
    async stop() {
      child.kill()
      await ended
    },
  }
}
