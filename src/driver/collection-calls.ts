import type { CollectionExpression, ExpressionName } from '../plan/expression.js'
import type { Path, Step } from '../plan/operation.js'
import type { Value } from '../plan/value.js'

const RETURN_NONE = 0
const RETURN_INDEX = 1
const RETURN_RANK = 3
const RETURN_COUNT = 5
const RETURN_KEY = 6
const RETURN_VALUE = 7
const INVERTED = 0x10000

// Flags of lists and maps on the wire.
const UNORDERED = 0
const ORDERED = 1
const K_ORDERED = 1
const NO_FLAGS = 0
const CREATE_ONLY = 1
const NO_FAIL = 4
const ADD_UNIQUE_PARTIAL = 1 | 4 | 8

export interface CollectionCall {
  /** Number of the operation on the wire. */
  readonly opcode: number
  /** Return type, where the operation takes one. */
  readonly returns?: number
  /** Arguments behind those of the plan: order and write flags. */
  readonly policy?: readonly number[]
  /** The call answers the changed copy of its subject. */
  readonly edits?: true
}

/** List and map operations whose arguments are values, and which may work on a part of the bin. */
export const CALLS_WITH_VALUES: Readonly<Record<CollectionExpression['name'], CollectionCall>> = {
  listSize: { opcode: 16 },
  listSlice: { opcode: 24, returns: RETURN_VALUE },
  listRankSlice: { opcode: 26, returns: RETURN_VALUE },
  listCountOf: { opcode: 22, returns: RETURN_COUNT },
  listIndexesOf: { opcode: 22, returns: RETURN_INDEX },
  listRanksOf: { opcode: 22, returns: RETURN_RANK },
  listInterval: { opcode: 25, returns: RETURN_VALUE },
  listIntervalCount: { opcode: 25, returns: RETURN_COUNT },
  mapSize: { opcode: 96 },
  mapKeySlice: { opcode: 104, returns: RETURN_KEY },
  mapValueSlice: { opcode: 104, returns: RETURN_VALUE },
  mapKeysByRank: { opcode: 106, returns: RETURN_KEY },
  mapValuesByRank: { opcode: 106, returns: RETURN_VALUE },
  mapKeysAmong: { opcode: 107, returns: RETURN_KEY },
  mapValuesAmong: { opcode: 107, returns: RETURN_VALUE },
  mapCountAmong: { opcode: 107, returns: RETURN_COUNT },
  mapRankOfKey: { opcode: 97, returns: RETURN_RANK },
  mapIndexOfKey: { opcode: 97, returns: RETURN_INDEX },
  listAppend: { opcode: 2, policy: [UNORDERED, NO_FLAGS], edits: true },
  listAppendUnique: { opcode: 2, policy: [ORDERED, ADD_UNIQUE_PARTIAL], edits: true },
  listInsert: { opcode: 4, edits: true },
  listInsertUnique: { opcode: 4, policy: [ADD_UNIQUE_PARTIAL], edits: true },
  listSet: { opcode: 9, edits: true },
  listIncrement: { opcode: 12, edits: true },
  listRemoveValues: { opcode: 36, returns: RETURN_NONE, edits: true },
  listRemoveRange: { opcode: 37, returns: RETURN_NONE, edits: true },
  listRemoveRankRange: { opcode: 39, returns: RETURN_NONE, edits: true },
  listRemoveInterval: { opcode: 38, returns: RETURN_NONE, edits: true },
  listKeepInterval: { opcode: 38, returns: RETURN_NONE | INVERTED, edits: true },
  listClear: { opcode: 11, edits: true },
  mapPut: { opcode: 67, policy: [K_ORDERED], edits: true },
  mapPutMissing: { opcode: 67, policy: [K_ORDERED, CREATE_ONLY | NO_FAIL], edits: true },
  mapPutItems: { opcode: 68, policy: [K_ORDERED], edits: true },
  mapIncrement: { opcode: 73, policy: [K_ORDERED], edits: true },
  mapRemoveKeys: { opcode: 81, returns: RETURN_NONE, edits: true },
  mapClear: { opcode: 75, edits: true },
}

/** List and map operations whose arguments are expressions. */
export const CALLS_WITH_EXPRESSIONS: Partial<Record<ExpressionName, CollectionCall>> = {
  listSize: { opcode: 16 },
  listCount: { opcode: 22, returns: RETURN_COUNT },
  listCountBetween: { opcode: 25, returns: RETURN_COUNT },
  listCountOf: { opcode: 23, returns: RETURN_COUNT },
  listSlice: { opcode: 24, returns: RETURN_VALUE },
  listFrom: { opcode: 27, returns: RETURN_VALUE },
  mapSize: { opcode: 96 },
  mapGet: { opcode: 97, returns: RETURN_VALUE },
  mapCount: { opcode: 97, returns: RETURN_COUNT },
  mapKeySlice: { opcode: 104, returns: RETURN_KEY },
  mapValueSlice: { opcode: 104, returns: RETURN_VALUE },
  mapKeysFrom: { opcode: 109, returns: RETURN_KEY },
  mapValuesFrom: { opcode: 109, returns: RETURN_VALUE },
  mapCountOf: { opcode: 107, returns: RETURN_COUNT },
  mapCountBetween: { opcode: 103, returns: RETURN_COUNT },
  mapValueCount: { opcode: 102, returns: RETURN_COUNT },
  mapValueCountBetween: { opcode: 105, returns: RETURN_COUNT },
  mapValueCountOf: { opcode: 108, returns: RETURN_COUNT },
  mapIndexOf: { opcode: 97, returns: RETURN_INDEX },
  listWith: { opcode: 1, edits: true },
  mapPut: { opcode: 67, edits: true },
  listWithAll: { opcode: 2, edits: true },
  listWithoutAll: { opcode: 36, returns: RETURN_NONE, edits: true },
  mapPutAll: { opcode: 68, edits: true },
  mapRemoveKey: { opcode: 76, returns: RETURN_NONE, edits: true },
  mapRemoveKeysOf: { opcode: 81, returns: RETURN_NONE, edits: true },
  mapValuesOf: { opcode: 107, returns: RETURN_VALUE },
}

const CONTEXT: Readonly<Record<Step['in'], number>> = {
  listIndex: 0x10,
  listRank: 0x11,
  listValue: 0x13,
  mapIndex: 0x20,
  mapRank: 0x21,
  mapKey: 0x22,
}
const CREATE_K_ORDERED = 0x80
const CREATE_KEY_VALUE_ORDERED = 0xc0

/** The steps of a path as the wire has them: a number that says how, and a value that says where. */
export function contextPairs(path: Path): readonly (readonly [number, Value])[] {
  return path.map((step): readonly [number, Value] => {
    const id = CONTEXT[step.in]
    switch (step.in) {
      case 'mapKey':
        return [step.create === true ? id | createFlag(step) : id, step.key]
      case 'mapIndex':
      case 'listIndex':
        return [id, step.index]
      case 'mapRank':
      case 'listRank':
        return [id, step.rank]
      case 'listValue':
        return [id, step.value]
    }
  })
}

const createFlag = ({ order }: { readonly order?: 'keyValue' }): number =>
  order === 'keyValue' ? CREATE_KEY_VALUE_ORDERED : CREATE_K_ORDERED
