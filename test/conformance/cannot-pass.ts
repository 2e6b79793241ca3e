/** Tests of the suite that need what the embedded server does not have, with the reason; see docs/internals/embedded.md. */
const UDF = 'runs a Lua function'

export const CANNOT_PASS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  batch_write: {
    'client.batchWrite() Transaction tests onLockingOnly should fail when writing to a locked record using BATCH_APPLY':
      UDF,
  },
  exp: {
    'Aerospike.exp expressionToBase64 postive tests works with BatchPolicy': UDF,
    'Aerospike.exp expressionToBase64 postive tests works with BatchApplyPolicy': UDF,
  },
  enterprise: {
    'Enterprise server features durable deletes should apply the durable delete policy on background query': UDF,
  },
  query: {
    'Queries query.foreach() #slow should apply a stream UDF to filter the results': UDF,
    'Queries query.foreach() #slow index with cdt context should apply a stream UDF to the nested context': UDF,
    'Queries query.apply() should apply a user defined function and aggregate the results': UDF,
    'Queries query.apply() should apply a user defined function with arguments and aggregate the results': UDF,
    'Queries query.apply() returns a Promise that resolves to the result of the aggregation': UDF,
    'Queries query.apply() index with cdt context should apply a user defined function and aggregate the results from a map':
      UDF,
    'Queries query.apply() index with cdt context should apply a user defined function and aggregate the results from a nested map':
      UDF,
    'Queries query.background() should run a background query and return a job': UDF,
    'Queries query.background() returns a Promise that resolves to a Job': UDF,
    'Queries query.background() index with cdt context returns a Promise that resolves to a Job with a filter containing a CDT context':
      UDF,
  },
  scan: {
    'Scans scan.background() applies a UDF to every record': UDF,
    'Scans scan.background() returns a Promise that resolves to a Job': UDF,
    'Scans job.info() returns the scan status and progress': UDF,
  },
}
