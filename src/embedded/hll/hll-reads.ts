import { Arguments } from '../cdt/arguments.js'
import { Bytes, Float, ListValue, ParticleType, type Value } from '../value/value.js'
import { elementsOf, malformed, sketchesOf } from './hll-arguments.js'
import { encodeSketch } from './sketch-bytes.js'
import { intersectCountOf, similarityOf, unionOf } from './sketch-sets.js'
import type { Sketch } from './sketch.js'

const ReadOpcode = {
  COUNT: 50,
  UNION: 51,
  UNION_COUNT: 52,
  INTERSECT_COUNT: 53,
  SIMILARITY: 54,
  DESCRIBE: 55,
  MAY_CONTAIN: 56,
} as const

interface Read {
  /** Number of arguments that it takes. */
  readonly takes: 0 | 1
  readonly answer: (sketch: Sketch, args: Arguments) => Value
}

const READS: Readonly<Record<number, Read>> = {
  [ReadOpcode.COUNT]: { takes: 0, answer: (sketch) => sketch.count },
  [ReadOpcode.UNION]: {
    takes: 1,
    answer: (sketch, args) => new Bytes(ParticleType.HLL, encodeSketch(unionOf([sketch, ...sketchesOf(args, 0)]))),
  },
  [ReadOpcode.UNION_COUNT]: { takes: 1, answer: (sketch, args) => unionOf([sketch, ...sketchesOf(args, 0)]).count },
  [ReadOpcode.INTERSECT_COUNT]: {
    takes: 1,
    answer: (sketch, args) => intersectCountOf([sketch, ...sketchesOf(args, 0)]),
  },
  [ReadOpcode.SIMILARITY]: {
    takes: 1,
    answer: (sketch, args) => new Float(similarityOf([sketch, ...sketchesOf(args, 0)])),
  },
  [ReadOpcode.DESCRIBE]: { takes: 0, answer: ({ indexBits, minhashBits }) => new ListValue([indexBits, minhashBits]) },
  [ReadOpcode.MAY_CONTAIN]: {
    takes: 1,
    answer: (sketch, args) => Number(elementsOf(args, 0).every((element) => sketch.mayContain(element))),
  },
}

/** Answers a reading call on a sketch. */
export function readSketch(opcode: number, values: readonly Value[], sketch: Sketch): Value {
  if (!Object.hasOwn(READS, opcode)) throw malformed('no such call')
  const { takes, answer } = READS[opcode]
  return answer(sketch, new Arguments(values, [takes, takes]))
}
