import { requireFeature } from '../build.js'
import type { QueryNode } from '../cluster/cluster.js'
import { ByteWriter } from '../protocol/byte-writer.js'
import { FieldId, FRAME_HEADER, Info2, MAX_BIN_NAME, OpCode } from '../protocol/constants.js'
import { beginFrame, endFrame, writeLast, writeMessageHeader, writePartitionUnavailable } from '../protocol/reply.js'
import { requestBudget } from '../protocol/request-budget.js'
import type { Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { ReplyStream } from '../server/reply-stream.js'
import type { Namespace } from '../store/namespace.js'
import type { Store } from '../store/store.js'
import { TimeSlice } from '../store/time-slice.js'
import { startBackgroundQuery } from './background-query.js'
import { indexLookup } from './index-lookup.js'
import { PartitionSelection } from './partition-selection.js'
import { candidates } from './query-candidates.js'
import { projectRecord, writeRow } from './query-row.js'
import { isReadOp } from './read-ops.js'
import { visibleTo } from './visible-records.js'

/** Rows leave in pieces of about this size, so that the first ones arrive early and little is held in memory. */
const CHUNK = 64 * 1024

/** Streams the rows of a query and returns its result code. */
export async function runQuery(store: Store, node: QueryNode, request: Request, stream: ReplyStream): Promise<number> {
  const writer = new ByteWriter()
  try {
    const namespace = store.namespace(request.namespace)
    if (request.fields?.has(FieldId.UDF_PACKAGE)) throw new CommandError(ResultCode.UNSUPPORTED, 'there are no UDFs')
    if (request.info2 & Info2.WRITE) startBackgroundQuery(node, namespace, request)
    else await streamRows(namespace, node, request, writer, stream)
    await send(writer, stream, () => writeLast(writer, ResultCode.OK))
    return ResultCode.OK
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    // Errors come without the mark of a last message, as from a real server; the client ends at any error.
    await send(writer, stream, () => writeMessageHeader(writer, { code: error.code }))
    return error.code
  }
}

async function streamRows(
  namespace: Namespace,
  node: QueryNode,
  request: Request,
  writer: ByteWriter,
  stream: ReplyStream,
): Promise<void> {
  checkQuery(namespace, request)
  const lookup = indexLookup(namespace, request)
  const partitions = PartitionSelection.of(request, lookup !== undefined)
  if (partitions === undefined) throw new CommandError(ResultCode.UNSUPPORTED, 'a query names its partitions')
  const visible = visibleTo(namespace, request)
  const namespaceName = Buffer.from(namespace.name, 'latin1')
  const slice = new TimeSlice()
  let left = maxRecords(request)
  let frame = beginFrame(writer)
  for (const partition of partitions.leaveOut((each) => !node.serves(namespace.name, each))) {
    writePartitionUnavailable(writer, partition)
  }
  for (const candidate of candidates(namespace, partitions, lookup)) {
    const state = visible(candidate.slot)
    if (state) {
      const ops = projectRecord(request, state)
      if (ops) writeRow(writer, namespaceName, candidate, state, ops)
      // A record that has none of the bins asked for counts, although no row is sent for it.
      if (--left === 0) break
    }
    if (!slice.over() && writer.length < CHUNK) continue
    frame = await flush(writer, frame, stream)
    if (stream.closed) return
    await slice.pause()
    requestBudget.begin(0)
  }
  await flush(writer, frame, stream)
}

/** Sends the rows that are ready and starts the next frame. */
async function flush(writer: ByteWriter, frame: number, stream: ReplyStream): Promise<number> {
  const empty = writer.length === frame + FRAME_HEADER
  if (empty) return frame
  endFrame(writer, frame)
  await stream.write(writer.take())
  return beginFrame(writer)
}

async function send(writer: ByteWriter, stream: ReplyStream, write: () => void): Promise<void> {
  writer.reset()
  const frame = beginFrame(writer)
  write()
  endFrame(writer, frame)
  await stream.write(writer.take())
}

function checkQuery(namespace: Namespace, request: Request): void {
  if (request.info2 & Info2.RELAXED_QUERY && namespace.strong) {
    throw new CommandError(ResultCode.PARAMETER, 'a relaxed query of a strongly consistent namespace')
  }
  for (const op of request.ops) {
    if (Buffer.byteLength(op.name) > MAX_BIN_NAME) throw new CommandError(ResultCode.PARAMETER, 'bin name')
    if (!isReadOp(op.op)) throw new CommandError(ResultCode.PARAMETER, 'a query only reads')
    if (op.op !== OpCode.READ) requireFeature('queryOperations')
  }
}

/** Most records that the client wants; 0 and nothing mean all. */
function maxRecords(request: Request): number {
  const data = request.fields?.get(FieldId.MAX_RECORDS)
  if (data === undefined) return Infinity
  if (data.length !== 8) throw new CommandError(ResultCode.PARAMETER, 'max records')
  return Number(data.readBigUInt64BE()) || Infinity
}
