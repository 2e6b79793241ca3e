import { LEAST_CONNECTIONS } from '../../driver/options.js'
import { POLICY_KINDS, policyNames } from '../../driver/policy-names.js'
import { checkFlag, checkNames, checkWhole, notValid, shown, type NamesOf } from '../../model/call-options.js'
import type { OpenOptions } from '../context/open-options.js'

const COUNTS = ['connectTimeout', 'connTimeoutMs', 'loginTimeoutMs', 'tenderInterval', 'maxConnsPerNode'] as const
const WHOLE = ['minConnsPerNode', 'maxErrorRate', 'errorRateWindow', 'maxSocketIdle', 'rackId', 'authMode'] as const
const FLAGS = ['rackAware', 'useAlternateAccessAddress', 'validate', 'stacks'] as const
const TEXTS = ['user', 'password', 'clusterName', 'appId'] as const
const OBJECTS = ['tls', 'clientLog', 'modlua', 'sharedMemory', 'configProvider'] as const

/** The client silently drops values that it cannot use, and takes its own default instead. */
export function checkClientOptions(options: OpenOptions): void {
  for (const name of COUNTS) checkWhole(name, options[name], 1)
  for (const name of WHOLE) checkWhole(name, options[name])
  for (const name of FLAGS) checkFlag(name, options[name])
  for (const name of TEXTS) checkType('string', 'a text', name, options[name])
  for (const name of OBJECTS) checkType('object', 'an object', name, options[name])
  checkRacks(options.rackIds)
  checkWhole('port', options.port, 1, 65_535)
  checkConnections(options.maxConnsPerNode)
  checkPolicies(options.policies)
}

function checkType(type: 'string' | 'object', what: string, name: string, given: unknown): void {
  if (given === undefined || (typeof given === type && given !== null)) return
  throw notValid(`${shown(given)} is not a valid value for the option ${name}.`, `Give ${what}, or leave it out.`)
}

function checkRacks(given: unknown): void {
  if (given === undefined) return
  if (!Array.isArray(given))
    throw notValid(
      `${shown(given)} is not a valid value for the option rackIds.`,
      'Give a list of numbers, or leave it out.',
    )
  given.forEach((rack: unknown, i) => checkWhole(`rackIds[${i}]`, rack))
}

function checkConnections(given: number | undefined): void {
  if (given === undefined || given >= LEAST_CONNECTIONS) return
  throw notValid(
    `${given} is not a valid value for the option maxConnsPerNode: reads, writes and commands that cannot share a batch need a connection each.`,
    `Give ${LEAST_CONNECTIONS} or more, or leave it out.`,
  )
}

/** A misspelt name or value would leave no time-out at all. */
function checkPolicies(policies: OpenOptions['policies']): void {
  checkNames('policies', policies, namesOf(POLICY_KINDS))
  for (const [kind, policy] of Object.entries<object | null | undefined>({ ...policies })) {
    checkNames(`policies.${kind}`, policy ?? undefined, namesOf(policyNames(kind)))
    for (const [name, value] of Object.entries<unknown>({ ...policy }))
      checkPolicy(`policies.${kind}.${name}`, name, value)
  }
}

function checkPolicy(where: string, name: string, value: unknown): void {
  if (POLICY_FLAGS.has(name)) checkFlag(where, value)
  else if (POLICY_LEAST.has(name)) checkWhole(where, value, POLICY_LEAST.get(name))
  else if (!POLICY_OBJECTS.has(name)) checkWhole(where, value)
}

const POLICY_FLAGS = new Set([
  'allowInline',
  'allowInlineSSD',
  'checkBounds',
  'compress',
  'concurrent',
  'deserialize',
  'durableDelete',
  'failOnClusterChange',
  'onLockingOnly',
  'respondAllKeys',
  'sendAsIs',
  'sendSetName',
])
/** Options with special values below zero: the namespace's default, never, keep. */
const POLICY_LEAST = new Map([
  ['ttl', -3],
  ['readTouchTtlPercent', -1],
])
const POLICY_OBJECTS = new Set(['filterExpression', 'labels', 'metricsListeners', 'reportDir', 'txn'])

const namesOf = (names: readonly string[]): NamesOf<object> => Object.fromEntries(names.map((name) => [name, true]))
