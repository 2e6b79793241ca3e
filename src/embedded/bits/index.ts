import { Arguments } from '../cdt/arguments.js'
import { OverBudgetError, requestBudget } from '../protocol/request-budget.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { Bytes, ParticleType, type Value } from '../value/value.js'
import { malformed } from './bit-arguments.js'
import { BIT_CHANGES } from './bit-changes.js'
import type { BitChange } from './byte-changes.js'
import { WriteFlag } from './write-flag.js'

export { readBits } from './bit-reads.js'

const EMPTY = Buffer.alloc(0)

/** The blob after a changing call, or undefined where the bin stays missing; the same object where nothing was written. */
export function modifyBits(opcode: number, values: readonly Value[], blob: Buffer | undefined): Buffer | undefined {
  if (!Object.hasOwn(BIT_CHANGES, opcode)) throw malformed('no such call')
  const change = BIT_CHANGES[opcode]
  const args = new Arguments(values, change.takes)
  const flags = args.flags(change.flagsAt)
  const both = WriteFlag.CREATE_ONLY | WriteFlag.UPDATE_ONLY
  if (flags & ~change.flags || (flags & both) === both) throw malformed('wrong flags')
  change.check?.(args)
  try {
    return run(change, args, flags, blob)
  } catch (error) {
    const isRefused = error instanceof CommandError && !(error instanceof OverBudgetError)
    if (isRefused && flags & WriteFlag.NO_FAIL) return blob
    throw error
  }
}

function run(change: BitChange, args: Arguments, flags: number, blob: Buffer | undefined): Buffer {
  if (blob === undefined) {
    if (!change.creates || flags & WriteFlag.UPDATE_ONLY) throw new CommandError(ResultCode.BIN_NOT_FOUND)
  } else if (flags & WriteFlag.CREATE_ONLY) throw new CommandError(ResultCode.BIN_EXISTS)
  const before = blob ?? EMPTY
  requestBudget.work(before.length / 4)
  const after = change.run(before, args, (flags & WriteFlag.PARTIAL) !== 0)
  requestBudget.grow(after.length - before.length)
  return after
}

/** The bytes of a value that calls on bits work on. */
export function blobOf(value: Value): Buffer {
  if (value instanceof Bytes && value.tag === ParticleType.BLOB) return value.bytes
  throw new CommandError(ResultCode.INCOMPATIBLE_TYPE, 'not a blob')
}
