import { blobOf, modifyBits, readBits } from '../bits/index.js'
import { modifyCdt, readCdt, type CdtCall } from '../cdt/index.js'
import { modifyHll, readHll } from '../hll/index.js'
import { Bytes, ParticleType, type Value } from '../value/value.js'
import { ExpressionType } from './expression-type.js'
import { invalid } from './node.js'

/** A family of calls, by the values it works on. */
export interface CallSystem {
  readonly subjects: readonly ExpressionType[]
  readonly read: (call: CdtCall, subject: Value) => Value
  /** The changed value; calls inside expressions answer with it and write nothing. */
  readonly modify: (call: CdtCall, subject: Value | undefined) => Value | undefined
}

const SYSTEMS: readonly CallSystem[] = [
  {
    subjects: [ExpressionType.NIL, ExpressionType.LIST, ExpressionType.MAP],
    read: readCdt,
    modify: (call, subject) => modifyCdt(call, subject).subject,
  },
  {
    subjects: [ExpressionType.NIL, ExpressionType.BLOB],
    read: ({ opcode, args }, subject) => readBits(opcode, args, blobOf(subject)),
    modify: ({ opcode, args }, subject) => {
      const changed = modifyBits(opcode, args, subject === undefined ? undefined : blobOf(subject))
      return changed && new Bytes(ParticleType.BLOB, changed)
    },
  },
  {
    subjects: [ExpressionType.NIL, ExpressionType.HLL],
    read: ({ opcode, args }, subject) => readHll(opcode, args, subject),
    modify: ({ opcode, args }, subject) => modifyHll(opcode, args, subject).subject,
  },
]

/** The call works on a copy and answers the changed value. */
const MODIFY_LOCAL = 0x40

export function callSystem(id: number | bigint): { readonly system: CallSystem; readonly modifies: boolean } {
  const system = SYSTEMS[Number(id) & ~MODIFY_LOCAL] as CallSystem | undefined
  if (system === undefined) throw invalid('there are no such calls')
  return { system, modifies: (Number(id) & MODIFY_LOCAL) !== 0 }
}
