import { connect } from '#src/driver/connect.js'
import { startEmbedded, type EmbeddedOptions, type EmbeddedServer } from 'skein/embedded'

/**
 * The server that tests run on: an embedded one, or the cluster of `AEROSPIKE_HOSTS` with the namespace of
 * `AEROSPIKE_NAMESPACE` (default `test`).
 */
export interface TestServer {
  readonly hosts: string
  /** A strongly consistent namespace, where there is one. */
  readonly sc: string | undefined
  /** An available one, where there is one. */
  readonly ap: string | undefined
  /** All of them. */
  readonly namespaces: readonly string[]
  /** Only when embedded: faults, command counts, clock. */
  readonly embedded: EmbeddedServer | undefined
  stop(): Promise<void>
}

const { AEROSPIKE_HOSTS: hosts, AEROSPIKE_NAMESPACE: namespace = 'test' } = process.env

export const isNamedServer = hosts !== undefined && hosts !== ''

export async function startTestServer(options: Omit<EmbeddedOptions, 'namespaces'> = {}): Promise<TestServer> {
  if (hosts !== undefined && hosts !== '') return namedServer(hosts)
  const embedded = await startEmbedded({ ...options, namespaces: ['test:sc', 'cache:ap'] })
  return {
    hosts: embedded.hosts,
    sc: 'test',
    ap: 'cache',
    namespaces: ['test', 'cache'],
    embedded,
    stop: () => embedded.stop(),
  }
}

async function namedServer(hosts: string): Promise<TestServer> {
  const driver = await connect({ hosts, namespaces: [namespace] })
  const { strongConsistency } = driver.capabilities.namespaces[namespace]
  await driver.close()
  return {
    hosts,
    sc: strongConsistency ? namespace : undefined,
    ap: strongConsistency ? undefined : namespace,
    namespaces: [namespace],
    embedded: undefined,
    stop: () => Promise.resolve(),
  }
}

/** Skips the test, and says why, when the server has no such thing. */
export function need<T>(context: Mocha.Context, thing: T | undefined, why: string): T {
  if (thing === undefined) {
    context.test!.title += ` (skipped: ${why})`
    context.skip()
  }
  return thing
}
