import type { Arguments } from '../cdt/arguments.js'
import { requestBudget } from '../protocol/request-budget.js'
import { bytesOf, malformed, sizeOf } from './bit-arguments.js'
import { byteRange } from './bit-range.js'
import { WriteFlag } from './write-flag.js'

/** A call that changes a blob. */
export interface BitChange {
  readonly takes: readonly [number, number]
  /** Position of the write flags among the arguments, and those of them that the call knows. */
  readonly flagsAt: number
  readonly flags: number
  /** True when a missing bin is made an empty blob first. */
  readonly creates: boolean
  /** Checks what can be checked without the blob. */
  readonly check?: (args: Arguments) => void
  /** The new blob; `blob` itself must stay as it is. */
  readonly run: (blob: Buffer, args: Arguments, partial: boolean) => Buffer
}

const ByteOpcode = { RESIZE: 0, INSERT: 1, REMOVE: 2 } as const
const ResizeFlag = { FROM_FRONT: 1, GROW_ONLY: 2, SHRINK_ONLY: 4 } as const
const RESIZE_FLAGS = ResizeFlag.FROM_FRONT | ResizeFlag.GROW_ONLY | ResizeFlag.SHRINK_ONLY
const CREATING_FLAGS = WriteFlag.CREATE_ONLY | WriteFlag.UPDATE_ONLY | WriteFlag.NO_FAIL

/** Bytes of the largest message; no size or offset may be beyond it. */
const MAX_BYTES = 128 * 1024 * 1024

function resize(blob: Buffer, args: Arguments): Buffer {
  const size = args.integer(0)
  const flags = args.flags(2)
  if (size < blob.length && flags & ResizeFlag.GROW_ONLY) throw malformed('the blob may only grow')
  if (size > blob.length && flags & ResizeFlag.SHRINK_ONLY) throw malformed('the blob may only shrink')
  const fromFront = (flags & ResizeFlag.FROM_FRONT) !== 0
  if (size <= blob.length) return Buffer.from(fromFront ? blob.subarray(blob.length - size) : blob.subarray(0, size))
  const added = zeros(size - blob.length)
  return Buffer.concat(fromFront ? [added, blob] : [blob, added])
}

/** Bytes between the end of the blob and the offset become zeros. */
function insert(blob: Buffer, args: Arguments): Buffer {
  const offset = args.integer(0)
  const at = offset < 0 ? blob.length + offset : offset
  if (at < 0) throw malformed('out of bounds')
  const before = at > blob.length ? Buffer.concat([blob, zeros(at - blob.length)]) : blob.subarray(0, at)
  return Buffer.concat([before, bytesOf(args, 1), blob.subarray(at)])
}

function remove(blob: Buffer, args: Arguments, partial: boolean): Buffer {
  const { offset, size } = byteRange(blob, args.integer(0), args.integer(1), partial)
  return Buffer.concat([blob.subarray(0, offset), blob.subarray(offset + size)])
}

function zeros(count: number): Buffer {
  requestBudget.pad(count)
  return Buffer.alloc(count)
}

/** Calls that add bytes to a blob and take some away. */
export const byteChanges: Readonly<Record<number, BitChange>> = {
  [ByteOpcode.RESIZE]: {
    takes: [1, 3],
    flagsAt: 1,
    flags: CREATING_FLAGS,
    creates: true,
    check: (args) => {
      const flags = args.flags(2)
      const both = ResizeFlag.GROW_ONLY | ResizeFlag.SHRINK_ONLY
      if (args.integer(0) < 0 || args.integer(0) > MAX_BYTES || flags & ~RESIZE_FLAGS || (flags & both) === both)
        throw malformed('wrong size or flags')
    },
    run: resize,
  },
  [ByteOpcode.INSERT]: {
    takes: [2, 3],
    flagsAt: 2,
    flags: CREATING_FLAGS,
    creates: true,
    check: (args) => {
      if (args.integer(0) > MAX_BYTES) throw malformed('wrong offset')
      if (bytesOf(args, 1).length === 0) throw malformed('there is nothing to insert')
    },
    run: insert,
  },
  [ByteOpcode.REMOVE]: {
    takes: [2, 3],
    flagsAt: 2,
    flags: WriteFlag.UPDATE_ONLY | WriteFlag.NO_FAIL | WriteFlag.PARTIAL,
    creates: false,
    check: (args) => void sizeOf(args, 1),
    run: remove,
  },
}
