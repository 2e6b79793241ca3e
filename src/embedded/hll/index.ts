import { Arguments } from '../cdt/arguments.js'
import { OverBudgetError } from '../protocol/request-budget.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { Bytes, ParticleType, type Value } from '../value/value.js'
import { malformed } from './hll-arguments.js'
import { SKETCH_CHANGES, WriteFlag, type SketchChange } from './hll-changes.js'
import { readSketch } from './hll-reads.js'
import { decodeSketch, encodeSketch } from './sketch-bytes.js'
import type { Sketch } from './sketch.js'

interface HllChange {
  /** The bin afterwards; undefined while it stays missing. */
  readonly subject: Value | undefined
  readonly result: Value
}

/** Answers a reading call on a HyperLogLog value. */
export function readHll(opcode: number, values: readonly Value[], subject: Value): Value {
  return readSketch(opcode, values, sketchIn(subject))
}

/** Answers a changing call; the subject is undefined where the bin is missing. */
export function modifyHll(opcode: number, values: readonly Value[], subject: Value | undefined): HllChange {
  if (!Object.hasOwn(SKETCH_CHANGES, opcode)) throw malformed('no such call')
  const change = SKETCH_CHANGES[opcode]
  const args = new Arguments(values, change.takes)
  const flags = args.flags(change.flagsAt)
  const both = WriteFlag.CREATE_ONLY | WriteFlag.UPDATE_ONLY
  if (flags & ~change.flags || (flags & both) === both) throw malformed('wrong flags')
  change.check(args)
  const sketch = subject === undefined ? undefined : sketchIn(subject)
  try {
    checkPresence(change, flags, sketch)
    const changed = change.run(sketch, args, flags)
    return { subject: new Bytes(ParticleType.HLL, encodeSketch(changed.sketch)), result: changed.result }
  } catch (error) {
    const isRefused = error instanceof CommandError && !(error instanceof OverBudgetError)
    if (isRefused && flags & WriteFlag.NO_FAIL) return { subject, result: null }
    throw error
  }
}

function checkPresence(change: SketchChange, flags: number, sketch: Sketch | undefined): void {
  if (sketch === undefined) {
    if (!change.creates || flags & WriteFlag.UPDATE_ONLY) throw new CommandError(ResultCode.BIN_NOT_FOUND)
  } else if (flags & WriteFlag.CREATE_ONLY) throw new CommandError(ResultCode.BIN_EXISTS)
}

function sketchIn(value: Value): Sketch {
  if (value instanceof Bytes && value.tag === ParticleType.HLL) return decodeSketch(value.bytes)
  throw new CommandError(ResultCode.INCOMPATIBLE_TYPE, 'not a HyperLogLog value')
}
