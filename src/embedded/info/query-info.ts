import type { MemberNode } from '../cluster/cluster.js'
import type { QueryJob } from '../store/query-jobs.js'
import type { Store } from '../store/store.js'
import { infoParameters } from './info-text.js'

/** `query-show[:id=…]`: how far background queries are. */
export function queryInfo(_store: Store, name: string, argument: string, { jobs }: MemberNode): string | undefined {
  if (name !== 'query-show') return undefined
  const parameters = infoParameters(argument)
  const id = parameters.get('id') ?? parameters.get('trid')
  if (id === undefined) return jobs.all().map(describe).join(';')
  const job = jobs.get(id)
  return job === undefined ? 'ERROR:2:job not found' : describe(job)
}

function describe(job: QueryJob): string {
  const pairs = {
    trid: job.id,
    ns: job.namespace,
    ...(job.setName === '' ? {} : { set: job.setName }),
    'n-pids-requested': 4096,
    rps: 0,
    'active-threads': job.done ? 0 : 1,
    status: job.done ? 'done(ok)' : 'active(ok)',
    'job-progress': job.progress.toFixed(2),
    'recs-throttled': 0,
    'recs-filtered-meta': 0,
    'recs-filtered-bins': job.filtered,
    'recs-succeeded': job.succeeded,
    'recs-failed': job.failed,
    'job-type': 'background-ops',
  }
  return Object.entries(pairs)
    .map(([key, value]) => `${key}=${value}`)
    .join(':')
}
