import { compileFilter } from '../expression/index.js'
import { DIGEST_SIZE, FieldId } from '../protocol/constants.js'
import { emptyRequest, readFields, readOps, type Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'

const RowFlag = { REPEAT: 0x01, INFO: 0x02, GENERATION: 0x04, TTL: 0x08, INFO4: 0x10 } as const
const ROW_START = 4 + DIGEST_SIZE + 1

/** Without it a batch ends at the first row that fails with anything but not-found or filtered-out. */
const RESPOND_ALL_KEYS = 0x04

export interface Batch {
  readonly count: number
  readonly respondAll: boolean
  /** The rows in order; the request of a row is only valid until the next is taken. */
  rows(): Iterator<BatchRow>
}

export interface BatchRow {
  readonly request: Request
  readonly index: number
}

export function parseBatch(request: Request): Batch {
  const data = request.fields?.get(FieldId.BATCH)
  if (data === undefined || data.length < 5) throw malformed()
  const count = data.readUInt32BE(0)
  if (count * ROW_START > data.length) throw malformed()
  // A bad filter of the whole batch ends it before the first row, even where every row brings its own.
  if (request.filter !== undefined) compileFilter(request.filter)
  return {
    count,
    respondAll: (data[4] & RESPOND_ALL_KEYS) !== 0,
    rows: () => readRows(data, count, request),
  }
}

function* readRows(data: Buffer, count: number, batch: Request): Iterator<BatchRow> {
  const cursor = { position: 5 }
  let row: Request | undefined
  for (let i = 0; i < count; i++) {
    const at = cursor.position
    if (at + ROW_START > data.length) throw malformed()
    const index = data.readUInt32BE(at)
    const digest = data.subarray(at + 4, at + 4 + DIGEST_SIZE)
    const flags = data[at + ROW_START - 1]
    cursor.position = at + ROW_START
    if (!(flags & RowFlag.REPEAT)) row = readRow(data, cursor, flags, batch)
    if (row === undefined) throw malformed()
    row.digest = digest
    yield { request: row, index }
  }
}

function readRow(data: Buffer, cursor: { position: number }, flags: number, batch: Request): Request {
  const row = emptyRequest()
  let at = cursor.position
  const take = (size: number): number => {
    const start = at
    at += size
    if (at > data.length) throw malformed()
    return start
  }
  row.info1 = data[take(1)]
  if (flags & RowFlag.INFO) {
    row.info2 = data[take(1)]
    row.info3 = data[take(1)]
  }
  if (flags & RowFlag.INFO4) row.info4 = data[take(1)]
  if (flags & RowFlag.GENERATION) row.generation = data.readUInt16BE(take(2))
  if (flags & RowFlag.TTL) row.ttl = data.readUInt32BE(take(4))
  const fields = data.readUInt16BE(take(2))
  const ops = data.readUInt16BE(take(2))
  cursor.position = at
  row.filter = batch.filter
  readFields(data, cursor, fields, row)
  row.ops = readOps(data, cursor, ops)
  return row
}

function malformed(): CommandError {
  return new CommandError(ResultCode.PARAMETER, 'malformed batch')
}
