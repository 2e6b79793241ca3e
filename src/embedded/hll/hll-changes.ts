import type { Arguments } from '../cdt/arguments.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { ListValue, MapValue, type Value } from '../value/value.js'
import { elementsOf, malformed, sketchesOf } from './hll-arguments.js'
import { fitTogether, isIndexBits, isMinhashBits } from './sketch-bytes.js'
import { unionOf } from './sketch-sets.js'
import { Sketch } from './sketch.js'

/** The flags of a policy for sketches. */
export const WriteFlag = { CREATE_ONLY: 1, UPDATE_ONLY: 2, NO_FAIL: 4, ALLOW_FOLD: 8 } as const

const ChangeOpcode = { INIT: 0, ADD: 1, UNION: 2, REFRESH_COUNT: 3, FOLD: 4 } as const
/** Stands for a number of bits that is not given. */
const NOT_GIVEN = -1

interface Changed {
  readonly sketch: Sketch
  readonly result: Value
}

/** A call that changes a sketch. */
export interface SketchChange {
  readonly takes: readonly [number, number]
  /** Position of the write flags among the arguments, and those of them that the call knows. */
  readonly flagsAt: number
  readonly flags: number
  /** True when it may start without a sketch. */
  readonly creates: boolean
  /** Checks what can be checked without the sketch. */
  readonly check: (args: Arguments) => void
  readonly run: (sketch: Sketch | undefined, args: Arguments, flags: number) => Changed
}

const bitsAt = (args: Arguments, at: number): number =>
  args.optionalValue(at) === undefined ? NOT_GIVEN : args.integer(at)

function checkBits(args: Arguments, at: number): void {
  const indexBits = bitsAt(args, at)
  const minhashBits = bitsAt(args, at + 1)
  if (indexBits !== NOT_GIVEN && !isIndexBits(indexBits)) throw malformed('wrong number of index bits')
  if (minhashBits !== NOT_GIVEN && !isMinhashBits(minhashBits)) throw malformed('wrong number of minhash bits')
  const isWrong = indexBits !== NOT_GIVEN && minhashBits !== NOT_GIVEN && !fitTogether(indexBits, minhashBits)
  if (isWrong) throw malformed('too many bits')
}

/** An empty sketch; bits that are not given are those of the sketch before it. */
function emptySketch(args: Arguments, at: number, before: Sketch | undefined): Sketch {
  const givenIndex = bitsAt(args, at)
  const givenMinhash = bitsAt(args, at + 1)
  const indexBits = givenIndex === NOT_GIVEN ? before?.indexBits : givenIndex
  if (indexBits === undefined) throw new CommandError(ResultCode.NOT_APPLICABLE, 'the index bits are missing')
  const minhashBits = givenMinhash === NOT_GIVEN ? (before?.minhashBits ?? 0) : givenMinhash
  if (!fitTogether(indexBits, minhashBits)) throw new CommandError(ResultCode.NOT_APPLICABLE, 'too many bits')
  return new Sketch(indexBits, minhashBits)
}

const isContainer = (value: Value): boolean => value instanceof ListValue || value instanceof MapValue

function add(sketch: Sketch | undefined, args: Arguments): Changed {
  const changed = sketch?.copy() ?? emptySketch(args, 1, undefined)
  let count = 0
  for (const element of elementsOf(args, 0)) if (changed.add(element)) count++
  return { sketch: changed, result: count }
}

/** A sketch with more registers than the bin's is folded; the bin's own only where the flags say so. */
function setUnion(sketch: Sketch | undefined, args: Arguments, flags: number): Changed {
  const others = sketchesOf(args, 0)
  const union = unionOf(sketch === undefined ? others : [sketch, ...others])
  const isFolded =
    sketch !== undefined && (union.indexBits < sketch.indexBits || union.minhashBits !== sketch.minhashBits)
  if (isFolded && !(flags & WriteFlag.ALLOW_FOLD)) {
    throw new CommandError(ResultCode.NOT_APPLICABLE, 'the sketch may not be folded')
  }
  return { sketch: union, result: null }
}

function refreshCount(sketch: Sketch | undefined): Changed {
  const refreshed = sketch!.copy()
  refreshed.cachedCount = refreshed.count
  return { sketch: refreshed, result: refreshed.cachedCount }
}

function fold(sketch: Sketch | undefined, args: Arguments): Changed {
  const indexBits = args.integer(0)
  if (indexBits > sketch!.indexBits || sketch!.minhashBits > 0) {
    throw new CommandError(ResultCode.NOT_APPLICABLE, 'the sketch cannot be folded in this way')
  }
  const folded = new Sketch(indexBits, 0)
  folded.merge(sketch!)
  return { sketch: folded, result: null }
}

const CREATING_FLAGS = WriteFlag.CREATE_ONLY | WriteFlag.UPDATE_ONLY | WriteFlag.NO_FAIL
const NO_FLAGS = { flagsAt: Infinity, flags: 0, creates: false } as const

export const SKETCH_CHANGES: Readonly<Record<number, SketchChange>> = {
  [ChangeOpcode.INIT]: {
    takes: [1, 3],
    flagsAt: 2,
    flags: CREATING_FLAGS,
    creates: true,
    check: (args) => checkBits(args, 0),
    run: (sketch, args) => ({ sketch: emptySketch(args, 0, sketch), result: null }),
  },
  [ChangeOpcode.ADD]: {
    takes: [1, 4],
    flagsAt: 3,
    flags: WriteFlag.CREATE_ONLY | WriteFlag.NO_FAIL,
    creates: true,
    check: (args) => {
      checkBits(args, 1)
      if (elementsOf(args, 0).some(isContainer)) throw malformed('an element is a list or a map')
    },
    run: add,
  },
  [ChangeOpcode.UNION]: {
    takes: [1, 2],
    flagsAt: 1,
    flags: CREATING_FLAGS | WriteFlag.ALLOW_FOLD,
    creates: true,
    check: (args) => void elementsOf(args, 0),
    run: setUnion,
  },
  [ChangeOpcode.REFRESH_COUNT]: { takes: [0, 0], ...NO_FLAGS, check: () => undefined, run: refreshCount },
  [ChangeOpcode.FOLD]: {
    takes: [1, 1],
    ...NO_FLAGS,
    check: (args) => {
      if (!isIndexBits(args.integer(0))) throw malformed('wrong number of index bits')
    },
    run: fold,
  },
}
