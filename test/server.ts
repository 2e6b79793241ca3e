import { connect } from '#src/driver/connect.js'
import { open, type Database, type OpenOptions } from 'skein'
import { startEmbedded, type EmbeddedOptions, type EmbeddedServer } from 'skein/embedded'
import { trafficOf } from '../examples/traffic.js'

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
  /** Only when embedded: faults, bytes, clock. */
  readonly embedded: EmbeddedServer | undefined
  readonly commands: {
    /** Round trips and records of a piece of work: as the embedded server saw them, otherwise as the driver tells of them. */
    during(work: () => Promise<unknown>): Promise<{ readonly commands: number; readonly rows: number }>
  }
  /** A database on it, with time-outs for a machine that has much else to do. */
  open(options: Omit<OpenOptions, 'hosts' | 'embedded'>): Promise<Database>
  stop(): Promise<void>
}

const WAIT = { socketTimeout: 30_000, totalTimeout: 30_000 }
/** A read that the client repeats, or a write in doubt, because the machine is busy is not what tests look for. */
export const PATIENT = {
  connectTimeout: 30_000,
  // The client sends nothing more (-14) to a node that has failed it a hundred times in a second on average; a higher ratio resets both
  // options. Over a long time that is more than all tests need.
  maxErrorRate: 100_000,
  errorRateWindow: 1000,
  // A command that fails for good is reported after a moment, not after the ten seconds of a failover.
  retry: { attempts: 5 },
  policies: {
    read: WAIT,
    batch: WAIT,
    write: WAIT,
    operate: WAIT,
    remove: WAIT,
    batchParentWrite: WAIT,
    info: { timeout: 30_000 },
  },
}

/** The options over those that suit a busy machine. */
export const patient = <T extends Pick<OpenOptions, 'retry'>>(options: T): T & typeof PATIENT => ({
  ...PATIENT,
  ...options,
  retry: { ...PATIENT.retry, ...options.retry },
})

export type Mode = 'sc' | 'ap'
/** The modes in which every behaviour suite runs, as far as the server has them. */
export const MODES: readonly Mode[] = ['ap', 'sc']

const { AEROSPIKE_HOSTS: hosts = '', AEROSPIKE_NAMESPACE: namespace = 'test', SKEIN_NODES = '1' } = process.env
/** Nodes of the embedded server on which behaviour suites run. */
export const NODES = Number(SKEIN_NODES)

export const isNamedServer = hosts !== ''

/** Another namespace than that of the mode where the server is embedded; otherwise there is only one. */
export const otherNamespace = (mode: Mode): string => (isNamedServer ? namespace : mode === 'ap' ? 'test' : 'cache')

/** Embedded, it also has `more`, a second strongly consistent namespace. */
export async function startTestServer(options: Omit<EmbeddedOptions, 'namespaces'> = {}): Promise<TestServer> {
  if (isNamedServer) return namedServer()
  const embedded = await startEmbedded({ nodes: NODES, ...options, namespaces: ['test:sc', 'cache:ap', 'more:sc'] })
  return {
    hosts: embedded.hosts,
    sc: 'test',
    ap: 'cache',
    namespaces: ['test', 'cache'],
    embedded,
    commands: NODES === 1 ? embedded.commands : { during: countEvents },
    open: (options) => open({ hosts: embedded.hosts, ...patient(options) }),
    stop: () => embedded.stop(),
  }
}

/** As the driver tells: on several nodes, what leaves together is one round trip, and the server sees a call for each node. */
async function countEvents(work: () => Promise<unknown>): Promise<{ commands: number; rows: number }> {
  const { commands, roundTrips } = await trafficOf(work)
  return { commands: roundTrips, rows: commands }
}

async function namedServer(): Promise<TestServer> {
  const driver = await connect({ hosts, namespaces: [namespace] })
  const { strongConsistency } = driver.capabilities.namespaces[namespace]
  await driver.close()
  return {
    hosts,
    sc: strongConsistency ? namespace : undefined,
    ap: strongConsistency ? undefined : namespace,
    namespaces: [namespace],
    embedded: undefined,
    commands: { during: countEvents },
    open: (options) => open({ hosts, ...patient(options) }),
    stop: () => Promise.resolve(),
  }
}

/** Skips the test, or all tests of a suite that is being set up, and says why, when the server has no such thing. */
export function need<T>(context: Mocha.Context, thing: T | undefined, why: string): T {
  if (thing === undefined) {
    const says = ` (skipped: ${why})`
    const running = context.test!
    // A hook that sets up a suite knows only its first test.
    if (/^"before all"/.test(running.title)) running.parent!.eachTest((test) => void (test.title += says))
    else (context.currentTest ?? running).title += says
    context.skip()
  }
  return thing
}

const MODE_NAMES = { sc: 'strongly consistent', ap: 'available' }

/** The namespace of that mode; where the server has none, the test or suite is skipped. */
export function needMode(context: Mocha.Context, server: TestServer, mode: Mode): string {
  return need(context, server[mode], `the server has no ${MODE_NAMES[mode]} namespace`)
}
