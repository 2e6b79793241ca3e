import { promisify } from 'node:util'
import { inflate, inflateSync, type ZlibOptions } from 'node:zlib'
import { FRAME_HEADER, FrameType } from '../protocol/constants.js'
import { FramingError } from '../protocol/frame-reader.js'

/** Bytes before the compressed ones: how many there will be. */
const SIZE_HEADER = 8
/** Smaller messages inflate faster than other connections could take turns. */
const AT_ONCE = 1 << 20

const inflateBeside = promisify<Buffer, ZlibOptions, Buffer>(inflate)

let turn: Promise<unknown> = Promise.resolve()

/** The message inside a compressed frame, which holds a whole frame, header included. */
export function inflateMessage(body: Buffer, maxSize: number): Buffer | Promise<Buffer> {
  if (body.length < SIZE_HEADER) throw new FramingError('a compressed frame without its size')
  const size = Number(body.readBigUInt64BE(0))
  if (size > maxSize) throw new FramingError(`a compressed frame of ${size} bytes is too large`)
  const compressed = body.subarray(SIZE_HEADER)
  if (size > AT_ONCE) return inTurn(() => inflateSlowly(compressed, size))
  try {
    return messageIn(inflateSync(compressed, { maxOutputLength: size }))
  } catch {
    throw notInflatable()
  }
}

/** Only one large message inflates at a time, so that small frames of many clients cannot fill the memory. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const result = turn.then(work)
  turn = result.catch(() => undefined)
  return result
}

async function inflateSlowly(compressed: Buffer, maxOutputLength: number): Promise<Buffer> {
  const inflated = await inflateBeside(compressed, { maxOutputLength }).catch(() => {
    throw notInflatable()
  })
  return messageIn(inflated)
}

function messageIn(inflated: Buffer): Buffer {
  if (inflated.length < FRAME_HEADER || inflated[1] !== FrameType.MESSAGE) throw new FramingError('not a message')
  return inflated.subarray(FRAME_HEADER)
}

function notInflatable(): FramingError {
  return new FramingError('a compressed frame that does not inflate')
}
