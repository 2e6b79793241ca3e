import { compileFilter } from '../expression/index.js'
import { DIGEST_SIZE, FieldId } from '../protocol/constants.js'
import { emptyRequest, readFields, readOps, type Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'

const RowFlag = { REPEAT: 0x01, INFO: 0x02, GENERATION: 0x04, TTL: 0x08, INFO4: 0x10 } as const
const ROW_START = 4 + DIGEST_SIZE + 1

/** Without it a batch ends at the first row that fails with anything but not-found or filtered-out. */
const RESPOND_ALL_KEYS = 0x04

export interface Batch {
  readonly respondAll: boolean
  readonly rows: BatchRows
}

export function parseBatch(request: Request): Batch {
  const data = request.fields?.get(FieldId.BATCH)
  if (data === undefined || data.length < 5) throw malformed()
  const count = data.readUInt32BE(0)
  if (count * ROW_START > data.length) throw malformed()
  // A bad filter of the whole batch ends it before the first row, even where every row brings its own.
  if (request.filter !== undefined) compileFilter(request.filter)
  return { respondAll: (data[4] & RESPOND_ALL_KEYS) !== 0, rows: new BatchRows(data, count, request) }
}

/** Rows of a batch in their order. No generator: going into one and out again for each row takes longer than reading the row. */
class BatchRows {
  /** Place of the last row that was taken, as the client counts them. */
  index = 0
  readonly #data: Buffer
  readonly #batch: Request
  readonly #cursor = { position: 5 }
  #left: number
  #row: Request | undefined

  constructor(data: Buffer, count: number, batch: Request) {
    this.#data = data
    this.#batch = batch
    this.#left = count
  }

  /** Takes the next row, which is valid until another is taken; undefined after the last. */
  next(): Request | undefined {
    if (this.#left === 0) return undefined
    this.#left--
    const data = this.#data
    const at = this.#cursor.position
    if (at + ROW_START > data.length) throw malformed()
    this.index = data.readUInt32BE(at)
    const digest = data.subarray(at + 4, at + 4 + DIGEST_SIZE)
    const flags = data[at + ROW_START - 1]
    this.#cursor.position = at + ROW_START
    if (!(flags & RowFlag.REPEAT)) this.#row = readRow(data, this.#cursor, flags, this.#batch)
    if (this.#row === undefined) throw malformed()
    this.#row.digest = digest
    return this.#row
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
