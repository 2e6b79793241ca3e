import type { Limits, RetryOptions } from '../../driver/options.js'
import type { EmbeddedOptions } from '../../embedded/index.js'
import type { Reveal } from '../../plan/show-command.js'
import {
  checkBound,
  checkChoice,
  checkFlag,
  checkNames,
  notValid,
  shown,
  type NamesOf,
} from '../../model/call-options.js'
import { checkClientOptions } from './check-client-options.js'
import { checkTarget, TRANSACTION_MODES, type OpenOptions } from '../context/open-options.js'

const OPEN: NamesOf<OpenOptions> = {
  hosts: true,
  embedded: true,
  namespace: true,
  entities: true,
  transactions: true,
  validate: true,
  stacks: true,
  actor: true,
  connectTimeout: true,
  retry: true,
  limits: true,
  log: true,
  reveal: true,
  clientLog: true,
  // The client's own.
  appId: true,
  authMode: true,
  clusterName: true,
  configProvider: true,
  connTimeoutMs: true,
  errorRateWindow: true,
  loginTimeoutMs: true,
  maxConnsPerNode: true,
  maxErrorRate: true,
  maxSocketIdle: true,
  minConnsPerNode: true,
  modlua: true,
  password: true,
  policies: true,
  port: true,
  rackAware: true,
  rackId: true,
  rackIds: true,
  sharedMemory: true,
  tenderInterval: true,
  tls: true,
  useAlternateAccessAddress: true,
  user: true,
}

const LIMITS: NamesOf<Limits> = {
  roundTrips: true,
  alone: true,
  batchRows: true,
  batchBytes: true,
  transactions: true,
  queryRecords: true,
  warnRecordSize: true,
  keyBytes: true,
}

const RETRY: NamesOf<RetryOptions> = { attempts: true, deadline: true, backoff: true, longestWait: true }
const REVEAL: NamesOf<Reveal> = { keys: true, values: true }

const EMBEDDED: NamesOf<EmbeddedOptions> = {
  port: true,
  nodes: true,
  namespaces: true,
  limits: true,
  build: true,
  file: true,
}

/** Refuses what cannot work before anything is started or sent. */
export function checkOpenOptions(options: OpenOptions): void {
  checkNames('open()', options ?? null, OPEN)
  checkTarget(options)
  checkHosts(options)
  if (typeof options.embedded !== 'boolean') checkNames('embedded', options.embedded, EMBEDDED)
  checkModel(options)
  const { transactions, log, limits, retry, reveal } = options
  checkChoice('transactions', transactions, TRANSACTION_MODES)
  checkChoice('log', log, ['commands', 'off'])
  checkBounds('limits', limits, LIMITS)
  checkBounds('retry', retry, RETRY)
  checkNames('reveal', reveal, REVEAL)
  checkFlag('reveal.keys', reveal?.keys)
  checkFlag('reveal.values', reveal?.values)
  checkClientOptions(options)
  if (options.actor !== undefined && typeof options.actor !== 'function')
    throw notValid(
      `${shown(options.actor)} is not a valid value for the option actor.`,
      'Give a function that returns a name.',
    )
}

function checkBounds(owner: string, given: object | undefined, known: NamesOf<object>): void {
  checkNames(owner, given, known)
  for (const [name, value] of Object.entries(given ?? {})) checkBound(`${owner}.${name}`, value)
}

function checkHosts({ hosts, user, password, authMode }: OpenOptions): void {
  const isHost = (host: unknown): boolean => typeof (host as { addr?: unknown } | null)?.addr === 'string'
  const isList = Array.isArray(hosts) && hosts.length > 0 && hosts.every(isHost)
  if (hosts !== undefined && !isList && (typeof hosts !== 'string' || hosts.trim() === '')) {
    throw notValid(
      `${shown(hosts)} is not a valid value for the option hosts.`,
      "Give 'db1:3000,db2:3000' or [{ addr: 'db1', port: 3000 }].",
    )
  }
  if (user !== undefined && password === undefined && authMode === undefined) {
    throw notValid(`open() was given the user '${user}' without a password.`, 'Give both, or neither.')
  }
}

function checkModel({ namespace, entities }: OpenOptions): void {
  if (typeof namespace !== 'string' || namespace === '') {
    throw notValid(
      `${shown(namespace)} is not a valid value for the option namespace.`,
      "Give its name: namespace: 'test'.",
    )
  }
  if (!Array.isArray(entities)) {
    throw notValid(
      `${shown(entities)} is not a valid value for the option entities.`,
      'Give the classes: entities: [Agent].',
    )
  }
}

/** The function that names who makes changes; what it returns is stored. */
export function checkedActor(actor: NonNullable<OpenOptions['actor']>): NonNullable<OpenOptions['actor']> {
  return () => {
    const name: unknown = actor()
    if (name === undefined || name === null) return undefined
    if (typeof name === 'string') return name
    throw notValid(`The function given as actor returned ${shown(name)}.`, 'Return a string, or undefined.')
  }
}
