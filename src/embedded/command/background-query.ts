import type { QueryNode } from '../cluster/cluster.js'
import { FieldId, Info1, Info2, Info3, PARTITIONS } from '../protocol/constants.js'
import { emptyRequest, type Request } from '../protocol/request.js'
import { requestBudget } from '../protocol/request-budget.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { Namespace } from '../store/namespace.js'
import type { QueryJob } from '../store/query-jobs.js'
import type { Slot } from '../store/slot.js'
import { TimeSlice } from '../store/time-slice.js'
import { indexLookup, type IndexLookup } from './index-lookup.js'
import { PartitionSelection } from './partition-selection.js'
import { candidates, type Candidate } from './query-candidates.js'
import { isReadOp } from './read-ops.js'
import { visibleTo } from './visible-records.js'
import { writeRecord } from './write.js'

/** Records that a slow node changes before it waits. */
const SLOW_STEPS = 16

/** Checks a query that writes and runs it after its answer; clients ask for its progress by its id. */
export function startBackgroundQuery(node: QueryNode, namespace: Namespace, request: Request): void {
  if (request.info1 & (Info1.READ | Info1.SHORT_QUERY) || request.ops.length === 0) throw malformed()
  if (request.ops.some((op) => isReadOp(op.op))) throw malformed()
  const isUnknown = !namespace.hasSet(request.setName, (partition) => node.holds(partition))
  if (request.setName !== '' && isUnknown) throw new CommandError(ResultCode.NOT_FOUND)
  const lookup = indexLookup(namespace, request)
  const visible = visibleTo(namespace, request)
  // A write may move a record to a place of the index that the query has yet to come to.
  const seen = new Set<Slot>()
  const job = node.jobs.add(request.fields?.get(FieldId.TASK_ID), namespace.name, request.setName)
  // Each node is asked, so each takes the partitions of which it is the master.
  const partitions = PartitionSelection.where((partition) => node.isMaster(partition))
  const run = applyToAll(node, candidates(namespace, partitions, lookup), job, (slot) => {
    if (seen.has(slot)) return
    seen.add(slot)
    if (visible(slot) !== undefined) count(job, () => writeRecord(namespace, writeTo(slot, request)).code)
    else if (isOfSet(namespace, request, slot)) job.filtered++
    job.progress = percent(seen.size, slot, lookup)
  })
  // A failure must not bring the server down; nobody waits for the query.
  run.catch((error: unknown) => console.error('skein embedded server: a background query failed:', error))
}

async function applyToAll(
  { pace }: QueryNode,
  found: Iterable<Candidate>,
  job: QueryJob,
  apply: (slot: Slot) => void,
): Promise<void> {
  const slice = new TimeSlice()
  // The answer that the query has started goes first.
  await slice.pause()
  let steps = 0
  for (const { slot } of found) {
    // The node was killed: its process would be gone, and this with it.
    if (job.isStopped) return
    requestBudget.begin(0)
    apply(slot)
    if (pace.isSlow && ++steps % SLOW_STEPS === 0) await pace.turn()
    else if (slice.over()) await slice.pause()
  }
  job.progress = 100
  job.done = true
}

/** Progress of a query that is at this slot. */
function percent(seen: number, slot: Slot, lookup: IndexLookup | undefined): number {
  return lookup ? (100 * seen) / Math.max(seen, lookup.index.entryCount) : (100 * slot.partition) / PARTITIONS
}

function isOfSet(namespace: Namespace, { setName }: Request, slot: Slot): boolean {
  const state = namespace.live(slot)
  return state !== undefined && (setName === '' || state.setName === setName)
}

/** A record that cannot be written, because a transaction holds it for example, does not stop the others. */
function count(job: QueryJob, write: () => number): void {
  if (codeOf(write) === ResultCode.OK) job.succeeded++
  else job.failed++
}

function codeOf(write: () => number): number {
  try {
    return write()
  } catch (error) {
    if (error instanceof CommandError) return error.code
    throw error
  }
}

/** The write that a background query makes of one record; it never creates one. */
function writeTo(slot: Slot, { namespace, ops, ttl, info2, info3 }: Request): Request {
  return {
    ...emptyRequest(),
    namespace,
    setName: slot.committed?.setName ?? '',
    ops,
    ttl,
    digest: slot.digest,
    info2: Info2.WRITE | (info2 & Info2.DURABLE_DELETE),
    info3: Info3.UPDATE_ONLY | (info3 & Info3.REPLACE_ONLY),
  }
}

function malformed(): CommandError {
  return new CommandError(ResultCode.PARAMETER, 'a background query only writes')
}
