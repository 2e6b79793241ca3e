import { DIGEST_SIZE, FieldId, MESSAGE_HEADER } from './constants.js'
import { CommandError, ResultCode } from './result-code.js'

export interface RequestOp {
  readonly op: number
  readonly type: number
  readonly name: string
  /** A view of the received frame: copy it before keeping it. */
  readonly value: Buffer
}

/** A record command as received, or a row of a batch. Buffers are views of the received frame. */
export interface Request {
  info1: number
  info2: number
  info3: number
  info4: number
  generation: number
  ttl: number
  namespace: string
  setName: string
  digest: Buffer | undefined
  /** The user key: particle type byte and value. */
  userKey: Buffer | undefined
  filter: Buffer | undefined
  transactionId: Buffer | undefined
  recordVersion: Buffer | undefined
  deadline: number
  ops: readonly RequestOp[]
  /** Fields that only batches and queries use, by id. */
  fields: Map<number, Buffer> | undefined
}

const NO_OPS: readonly RequestOp[] = []

export function emptyRequest(): Request {
  return {
    info1: 0,
    info2: 0,
    info3: 0,
    info4: 0,
    generation: 0,
    ttl: 0,
    namespace: '',
    setName: '',
    digest: undefined,
    userKey: undefined,
    filter: undefined,
    transactionId: undefined,
    recordVersion: undefined,
    deadline: 0,
    ops: NO_OPS,
    fields: undefined,
  }
}

export function parseRequest(body: Buffer): Request {
  if (body.length < MESSAGE_HEADER || body[0] !== MESSAGE_HEADER) throw malformed()
  const request = emptyRequest()
  request.info1 = body[1]
  request.info2 = body[2]
  request.info3 = body[3]
  request.info4 = body[4]
  request.generation = body.readUInt32BE(6)
  request.ttl = body.readUInt32BE(10)
  const cursor = { position: MESSAGE_HEADER }
  readFields(body, cursor, body.readUInt16BE(18), request)
  request.ops = readOps(body, cursor, body.readUInt16BE(20))
  return request
}

interface Cursor {
  position: number
}

/** Reads `count` fields into the request. */
export function readFields(body: Buffer, cursor: Cursor, count: number, request: Request): void {
  for (let i = 0; i < count; i++) {
    const at = cursor.position
    if (at + 5 > body.length) throw malformed()
    const size = body.readUInt32BE(at)
    const end = at + 4 + size
    if (size < 1 || end > body.length) throw malformed()
    setField(request, body[at + 4], body, at + 5, end)
    cursor.position = end
  }
}

function setField(request: Request, id: number, body: Buffer, start: number, end: number): void {
  switch (id) {
    case FieldId.NAMESPACE:
      request.namespace = body.toString('latin1', start, end)
      return
    case FieldId.SET:
      request.setName = body.toString('utf8', start, end)
      return
    case FieldId.DIGEST:
      if (end - start !== DIGEST_SIZE) throw malformed()
      request.digest = body.subarray(start, end)
      return
    case FieldId.KEY:
      if (end - start < 1) throw malformed()
      request.userKey = body.subarray(start, end)
      return
    case FieldId.FILTER:
      request.filter = body.subarray(start, end)
      return
    case FieldId.TXN_ID:
      if (end - start !== 8) throw malformed()
      request.transactionId = body.subarray(start, end)
      return
    case FieldId.RECORD_VERSION:
      if (end - start !== 7) throw malformed()
      request.recordVersion = body.subarray(start, end)
      return
    case FieldId.TXN_DEADLINE:
      if (end - start !== 4) throw malformed()
      request.deadline = body.readUInt32LE(start)
      return
  }
  request.fields ??= new Map()
  request.fields.set(id, body.subarray(start, end))
}

export function readOps(body: Buffer, cursor: Cursor, count: number): readonly RequestOp[] {
  if (count === 0) return NO_OPS
  const ops: RequestOp[] = []
  for (let i = 0; i < count; i++) {
    const at = cursor.position
    if (at + 8 > body.length) throw malformed()
    const end = at + 4 + body.readUInt32BE(at)
    const nameEnd = at + 8 + body[at + 7]
    if (nameEnd > end || end > body.length) throw malformed()
    ops.push({
      op: body[at + 4],
      type: body[at + 5],
      name: body.toString('utf8', at + 8, nameEnd),
      value: body.subarray(nameEnd, end),
    })
    cursor.position = end
  }
  return ops
}

function malformed(): CommandError {
  return new CommandError(ResultCode.PARAMETER, 'malformed request')
}
