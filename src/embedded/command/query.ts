import { ByteWriter } from '../protocol/byte-writer.js'
import { beginFrame, endFrame, writeLast } from '../protocol/reply.js'
import type { Request } from '../protocol/request.js'
import { ResultCode } from '../protocol/result-code.js'
import type { ReplyStream } from '../server/reply-stream.js'
import type { Store } from '../store/store.js'

/** Streams the rows of a query and returns its result code. */
export async function runQuery(_store: Store, _request: Request, stream: ReplyStream): Promise<number> {
  const writer = new ByteWriter()
  const frame = beginFrame(writer)
  writeLast(writer, ResultCode.UNSUPPORTED)
  endFrame(writer, frame)
  await stream.write(writer.take())
  return ResultCode.UNSUPPORTED
}
