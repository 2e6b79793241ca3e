import { emptyPolicy } from './aerospike-client.js'

/** The kinds of policies that the client takes. */
export const POLICY_KINDS = [
  'admin',
  'apply',
  'base',
  'batch',
  'batchApply',
  'batchParentWrite',
  'batchRead',
  'batchRemove',
  'batchWrite',
  'commandQueue',
  'hll',
  'info',
  'list',
  'map',
  'metrics',
  'operate',
  'query',
  'read',
  'remove',
  'scan',
  'txnRoll',
  'txnVerify',
  'write',
] as const

/** The options of a policy of that kind. */
export const policyNames = (kind: string): string[] => Object.keys(emptyPolicy(kind))
