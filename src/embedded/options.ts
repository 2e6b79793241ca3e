import { resolve } from 'node:path'
import type { SkeinError } from '../errors/index.js'
import { compareBuilds, completeBuild, NEWEST_BUILD, OLDEST_BUILD } from './build.js'
import { checkDuration, checkFlag, checkNames, checkWhole, notValid, type NamesOf } from './check-options.js'

/** Behaviour of a namespace. */
export interface NamespaceOptions {
  readonly name: string
  /**
   * `sc`: strongly consistent, as on an enterprise cluster: transactions work and deletes must be durable.
   * `ap`: available, as on a community server: transactions and durable deletes are refused (25).
   */
  readonly mode?: 'sc' | 'ap'
  /** On `sc`, let plain deletes through instead of answering 22. */
  readonly allowExpunge?: boolean
  /** Seconds a record lives when a write does not say; 0 = for ever. */
  readonly defaultTtl?: number
  /** Seconds between two sweeps for expired records; 0 turns expiry off, and writes with a TTL are refused (22). */
  readonly nsupPeriod?: number
}

export interface EmbeddedLimits {
  /** Largest record in bytes; more answers 13. */
  readonly maxRecordSize?: number
  /** Largest request in bytes; more closes the connection. */
  readonly maxRequestSize?: number
  /** Connections at a time; one more is closed at once. */
  readonly maxConnections?: number
  /** Writes of one transaction; more answers 123. */
  readonly maxTransactionWrites?: number
  /** Seconds a transaction may take when its client does not say. */
  readonly transactionTimeout?: number
  /** Commands the log remembers. */
  readonly commandLog?: number
}

export interface EmbeddedOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number
  /** Number of nodes of the cluster; each has a port of its own, and they share the records. Default 1, at most 16. */
  readonly nodes?: number
  /** Default: `test` as `sc`. A string is `name:mode`. */
  readonly namespaces?: readonly (string | NamespaceOptions)[]
  readonly limits?: EmbeddedLimits
  /**
   * The release it answers as, from 6.1 to 8.1.2, the default. It refuses what that release did not have yet, so that
   * tests can run against the oldest server a program must work with.
   */
  readonly build?: string
  /**
   * A file that keeps what was acknowledged, so that it is there after a restart. For development: it survives the end of
   * the process, not that of the machine. Default: nothing is kept.
   */
  readonly file?: string
}

export interface ResolvedOptions {
  readonly port: number
  readonly nodes: number
  readonly namespaces: readonly Required<NamespaceOptions>[]
  readonly limits: Required<EmbeddedLimits>
  readonly build: string
  /** An absolute path. */
  readonly file: string | undefined
}

const DEFAULT_LIMITS: Required<EmbeddedLimits> = {
  maxRecordSize: 1024 * 1024,
  maxRequestSize: 128 * 1024 * 1024,
  maxConnections: 15_000,
  maxTransactionWrites: 4096,
  transactionTimeout: 10,
  commandLog: 10_000,
}

/** Each node has sockets and a partition map of its own; more than this proves nothing that fewer do not. */
const MOST_NODES = 16

const OPTIONS: NamesOf<EmbeddedOptions> = {
  port: true,
  nodes: true,
  namespaces: true,
  limits: true,
  build: true,
  file: true,
}

const LIMITS: NamesOf<EmbeddedLimits> = {
  maxRecordSize: true,
  maxRequestSize: true,
  maxConnections: true,
  maxTransactionWrites: true,
  transactionTimeout: true,
  commandLog: true,
}

const NAMESPACE: NamesOf<NamespaceOptions> = {
  name: true,
  mode: true,
  allowExpunge: true,
  defaultTtl: true,
  nsupPeriod: true,
}

export function resolveOptions(options: EmbeddedOptions = {}): ResolvedOptions {
  checkNames('startEmbedded()', options, OPTIONS)
  const { namespaces: given = ['test:sc'], port = 0, nodes = 1 } = options
  if (!Array.isArray(given)) throw notValid('The namespaces are not a list.', 'Give one, for example ["test:sc"].')
  const namespaces = given.map(resolveNamespace)
  const names = namespaces.map((namespace) => namespace.name)
  const doubled = names.find((name, i) => names.indexOf(name) !== i)
  if (doubled !== undefined) throw notValid(`The namespace "${doubled}" is given twice.`, 'Name each namespace once.')
  if (names.length === 0) throw notValid('No namespace is given.', 'Name at least one, for example "test:sc".')
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw notValid(`The port ${port} is not between 0 and 65535.`, 'Use 0 for any free port.')
  }
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > MOST_NODES) {
    throw notValid(`A cluster of ${nodes} nodes is not possible.`, `Use a whole number from 1 to ${MOST_NODES}.`)
  }
  if (port !== 0 && port + nodes > 65536) {
    throw notValid(`${nodes} nodes need the ports from ${port} on.`, 'Use a lower one, or 0 for any free ports.')
  }
  const build = resolveBuild(options.build)
  return {
    port,
    nodes,
    namespaces,
    limits: resolveLimits(options.limits),
    build,
    file: resolveFile(options.file),
  }
}

function resolveLimits(given: EmbeddedLimits = {}): Required<EmbeddedLimits> {
  checkNames('limits', given, LIMITS)
  const limits = { ...DEFAULT_LIMITS, ...withoutUndefined(given) }
  for (const [name, value] of Object.entries(limits)) checkWhole(`limits.${name}`, value, name === 'commandLog' ? 0 : 1)
  return limits
}

function withoutUndefined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T
}

function resolveFile(given: unknown): string | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'string' && given !== '') return resolve(given)
  throw notValid('The data file is not a path.', 'Give one, for example file: ".data/skein.data", or leave it out.')
}

function resolveBuild(given: string = NEWEST_BUILD): string {
  const build = completeBuild(given)
  if (build !== undefined && compareBuilds(build, OLDEST_BUILD) >= 0 && compareBuilds(build, NEWEST_BUILD) <= 0)
    return build
  throw notValid(
    `"${given}" is not a build the embedded server can answer as.`,
    'Use one from "6.1" to "8.1.2", for example "7.2".',
  )
}

function resolveNamespace(given: string | NamespaceOptions): Required<NamespaceOptions> {
  const options = typeof given === 'string' ? parseNamespace(given) : given
  if (typeof options !== 'object' || options === null) throw notANamespace(String(options))
  checkNames('A namespace', options, NAMESPACE)
  const { name, mode } = options
  if (typeof name !== 'string' || !/^[A-Za-z0-9_$-]{1,31}$/.test(name)) {
    throw notValid(
      `"${name}" is not a namespace name.`,
      'Use 1 to 31 letters, digits, "-", "_" or "$", for example "test:sc".',
    )
  }
  if (mode !== undefined && !isMode(mode))
    throw notValid(`"${String(mode)}" is not a mode of the namespace "${name}".`, 'Use "sc" or "ap".')
  const resolved = {
    mode: 'sc',
    allowExpunge: false,
    defaultTtl: 0,
    nsupPeriod: 1,
    ...withoutUndefined(options),
  } as const
  checkFlag(`allowExpunge of the namespace "${name}"`, resolved.allowExpunge)
  checkWhole(`defaultTtl of the namespace "${name}"`, resolved.defaultTtl, 0)
  checkDuration(`nsupPeriod of the namespace "${name}"`, resolved.nsupPeriod)
  return resolved
}

function parseNamespace(text: string): NamespaceOptions {
  const [name, mode = 'sc', ...rest] = text.split(':')
  if (!isMode(mode) || rest.length > 0) {
    throw notANamespace(text)
  }
  return { name, mode }
}

const isMode = (mode: string): mode is 'sc' | 'ap' => mode === 'sc' || mode === 'ap'

const notANamespace = (text: string): SkeinError =>
  notValid(`"${text}" is not a namespace.`, 'Write NAME:sc or NAME:ap, for example "test:sc".')
