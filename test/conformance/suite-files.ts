import type { NamespaceOptions } from 'skein/embedded'

/** A file of the client's suite, and how many of its tests a real server passes. */
export interface SuiteFile {
  readonly name: string
  readonly passing: number
  readonly namespace: NamespaceOptions
  /** The release that the server answers as; the newest where it is left out. */
  readonly build?: string
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
  exp_list: 63,
  exp_map: 96,
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
  index: 13,
  index_job: 3,
  info: 23,
  client: 27,
  bigint: 1,
  double: 2,
  index_on_exp: 10,
  query_numeric_filter_exp: 8,
  query_string_filter_exp: 4,
  query_blob_filter: 14,
  query_blob_filter_exp: 4,
  bin_projection: 6,
  path_operations: 56,
  path_expressions: 64,
  bitwise: 36,
  exp_bit: 2,
  hll: 37,
  exp_hll: 2,
  circuit_breaker: 11,
  connect_timeout: 2,
  dynamic_config: 16,
  replica_random: 1,
  stats: 2,
  geojson: 11,
  aerospike_module: 3,
  command: 2,
  config: 5,
  config_pki: 1,
  error: 15,
  policy: 13,
  status: 100,
  utils: 13,
}

/** `put` and `batch_write` are here again for the tests that only a strongly consistent namespace can run. */
const ON_ENTERPRISE: Readonly<Record<string, number>> = {
  mrt_api: 27,
  mrt_functionality: 5,
  put: 42,
  batch_write: 20,
  enterprise: 4,
}

/** Written for servers that do not know transactions. */
const ON_OLDER: Readonly<Record<string, number>> = { mrt_backward_compatible: 2 }

export const SUITE_FILES: readonly SuiteFile[] = [
  ...files(ON_COMMUNITY, COMMUNITY),
  ...files(ON_ENTERPRISE, ENTERPRISE),
  ...files(ON_OLDER, COMMUNITY, '7.2'),
]

function files(passing: Readonly<Record<string, number>>, namespace: NamespaceOptions, build?: string): SuiteFile[] {
  return Object.entries(passing).map(([name, count]) => ({ name, passing: count, namespace, build }))
}
