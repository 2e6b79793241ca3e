import type { NamespaceOptions } from 'skein/embedded'

/** A file of the client's suite, and how many of its tests a real server passes. */
export interface SuiteFile {
  readonly name: string
  readonly passing: number
  readonly namespace: NamespaceOptions
}

/** The recorded figures are those of a community server, so most files run as on one. */
const COMMUNITY: NamespaceOptions = { name: 'test', mode: 'ap' }
/** Transactions need a strongly consistent namespace; the suite tidies up with plain deletes. */
const ENTERPRISE: NamespaceOptions = { name: 'test', mode: 'sc', allowExpunge: true }

const ON_COMMUNITY: Readonly<Record<string, number>> = {
  lists: 107,
  maps: 136,
  cdt_context: 28,
  operate: 21,
  exp: 41,
  exp_list: 59,
  exp_map: 92,
  bitwise: 36,
  hll: 37,
  exp_bit: 2,
  exp_hll: 2,
  path_operations: 56,
  path_expressions: 64,
  put: 41,
  get: 9,
  select: 5,
  exists: 9,
  remove: 4,
  remove_bin: 1,
  key: 23,
  truncate: 2,
  batch_read: 12,
  batch_write: 17,
  batch_get: 3,
  batch_exists: 3,
  batch_select: 3,
  batch_remove: 2,
  query: 40,
  query_numeric_filter: 20,
  query_string_filter: 16,
  scan: 24,
  index: 12,
  index_job: 3,
  info: 23,
  client: 27,
  bigint: 1,
  double: 2,
}

/** `put` and `batch_write` are here again for the tests that only a strongly consistent namespace can run. */
const ON_ENTERPRISE: Readonly<Record<string, number>> = { mrt_api: 27, mrt_functionality: 5, put: 42, batch_write: 20 }

export const SUITE_FILES: readonly SuiteFile[] = [
  ...files(ON_COMMUNITY, COMMUNITY),
  ...files(ON_ENTERPRISE, ENTERPRISE),
]

function files(passing: Readonly<Record<string, number>>, namespace: NamespaceOptions): SuiteFile[] {
  return Object.entries(passing).map(([name, count]) => ({ name, passing: count, namespace }))
}
