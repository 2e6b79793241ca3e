import { SkeinError } from '../errors/index.js'
import {
  calls,
  LOG_OFF,
  newClient,
  type AerospikeClient,
  type ClientConfig,
  type ClientError,
} from './aerospike-client.js'
import { listNamespaces, readCapabilities, type Capabilities } from './capabilities.js'
import { Driver } from './driver.js'
import type { DriverOptions } from './options.js'
import { mergePolicies } from './policies.js'
import { CODE, isLogin, isNoAnswer } from './status.js'

const CONNECT_TIMEOUT = 3000

/** Connects, reads what the server can do and checks the namespaces. On failure: one clear error, and nothing stays open. */
export async function connect(options: DriverOptions): Promise<Driver> {
  const policies = mergePolicies(options.policies)
  const client = createClient({ ...clientConfig(options), policies }, options)
  try {
    await client.connect()
    const { namespaces, connectTimeout = CONNECT_TIMEOUT } = options
    const capabilities = await readCapabilities(calls(client), namespaces, connectTimeout)
    await checkNamespaces(client, capabilities, options)
    const driver = new Driver(client, capabilities, policies, options)
    await driver.start()
    return driver
  } catch (error) {
    // Closes also after a failed connect: that releases the event loop, so that the process can end.
    closeQuietly(client)
    throw error instanceof SkeinError ? error : explainConnect(error as ClientError, options)
  }
}

/** A client that never connected may refuse to be closed; why it did not connect is what people must hear. */
function closeQuietly(client: AerospikeClient): void {
  try {
    client.close()
  } catch {
    // Nothing is left to close.
  }
}

function createClient(config: ClientConfig, options: DriverOptions): AerospikeClient {
  try {
    return newClient(config)
  } catch (error) {
    throw makesSense(options) ? refusedConfig(error as ClientError) : explainConnect(error as ClientError, options)
  }
}

/** Everything that is not Skein's own goes to the client as it is. */
function clientConfig(options: DriverOptions): ClientConfig {
  const {
    namespaces: _namespaces,
    connectTimeout = CONNECT_TIMEOUT,
    limits: _limits,
    retry: _retry,
    log: _log,
    reveal: _reveal,
    byteKeyed: _byteKeyed,
    clientLog,
    ...config
  } = options
  return {
    connTimeoutMs: connectTimeout,
    loginTimeoutMs: connectTimeout,
    ...config,
    // The native client prints every failed command to standard error, with its key.
    log: clientLog ?? { level: LOG_OFF },
  }
}

async function checkNamespaces(
  client: AerospikeClient,
  capabilities: Capabilities,
  { namespaces, connectTimeout = CONNECT_TIMEOUT }: DriverOptions,
): Promise<void> {
  const missing = namespaces.find((name) => !(name in capabilities.namespaces))
  if (missing === undefined) return
  const present = await listNamespaces(calls(client), connectTimeout)
  throw new SkeinError(
    'SKEIN_4103',
    `Namespace '${missing}' does not exist on the server, which has: ${present.join(', ')}.`,
    {
      namespace: missing,
      fix: "Use one of those, or add it to the server's configuration.",
    },
  )
}

function explainConnect(error: ClientError, options: DriverOptions): SkeinError {
  // The client's error holds its whole configuration, with the password.
  error.command = 'connect'
  if (isLogin(error.code)) {
    return new SkeinError(
      'SKEIN_4102',
      `The server refused the login of user '${options.user ?? ''}' (code ${error.code}).`,
      {
        cause: error,
        fix: 'Check user and password, and whether security is enabled on the server.',
      },
    )
  }
  if (!isUnreachable(error, options)) return refusedConfig(error)
  const { connectTimeout = CONNECT_TIMEOUT } = options
  const within = `within ${connectTimeout} ms (${error.message}).`
  if (isMissingSome(error)) {
    return new SkeinError('SKEIN_4101', `Not all of ${showHosts(options)} could be reached ${within}`, {
      cause: error,
      fix: 'Check host, port and TLS settings, or remove the hosts that do not exist.',
    })
  }
  return new SkeinError('SKEIN_4101', `No Aerospike server could be reached at ${showHosts(options)} ${within}`, {
    cause: error,
    fix: 'Check host, port and TLS settings, or open with { embedded: true } for development.',
  })
}

// `host`, `host:port` or `host:tls-name:port`.
const HOST = /^(\[[^\]]+\]|[^:]+)(:[^:]+)?(:\d+)?$/

const makesSense = ({ hosts = 'localhost' }: DriverOptions): boolean =>
  typeof hosts === 'string' ? hosts.split(',').every((host) => HOST.test(host)) : hosts.length > 0

// The client has one code for hosts that it cannot reach and for options that it cannot use.
const isUnreachable = (error: ClientError, options: DriverOptions): boolean =>
  error.message.startsWith('Failed to connect') ||
  isMissingSome(error) ||
  !makesSense(options) ||
  (isNoAnswer(error.code) && error.code !== CODE.TLS)

/** Some hosts are there and others are not, which the client reports as a failure. */
const isMissingSome = ({ message }: ClientError): boolean => message.startsWith('Peers not reachable')

/** The server has not even been asked. */
function refusedConfig(error: ClientError): SkeinError {
  error.command = 'connect'
  return new SkeinError('SKEIN_2320', `The client refused its options: ${error.message}.`, {
    cause: error,
    fix: 'Check hosts, user and password, the names and values of policies, and the files of tls.',
  })
}

function showHosts({ hosts, port }: DriverOptions): string {
  if (hosts === undefined) return `localhost:${port ?? 3000}`
  return typeof hosts === 'string' ? hosts : hosts.map((host) => `${host.addr}:${host.port ?? 3000}`).join(', ')
}
