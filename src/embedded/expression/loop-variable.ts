import type { Loop } from '../cdt/index.js'
import { ListValue, type Value } from '../value/value.js'
import { ExpressionType, isExpressionType, typeOfValue } from './expression-type.js'
import { expectCount, invalid, type Builders, type Node, type Operands } from './node.js'
import { Opcode } from './opcode.js'

/** Parts of the child that a path has reached; only entries of maps have keys, only elements of lists have indexes. */
const PARTS: readonly ((loop: Loop) => Value | undefined)[] = [
  ({ container, position }) => (container instanceof ListValue ? undefined : container.keys[position]),
  ({ container, position }) =>
    container instanceof ListValue ? container.items[position] : container.values[position],
  ({ container, position }) => (container instanceof ListValue ? position : undefined),
]

/** `type, part`; unknown where the part has another type. */
function loopVariable(operands: Operands, count: number): Node {
  expectCount(count, 2)
  const type = operands.integer()
  if (!isExpressionType(type)) throw invalid('there is no such type')
  const read = PARTS[Number(operands.integer())] as (typeof PARTS)[number] | undefined
  if (read === undefined) throw invalid('there is no such part of a loop variable')
  return {
    type,
    evaluate: ({ loop }) => {
      const value = loop && read(loop)
      return value !== undefined && typeOfValue(value) === type ? value : undefined
    },
  }
}

/** Stands for the removal of a child by its type alone: of its value only counts that it is known, as it is on a path. */
function resultRemove(_operands: Operands, count: number): Node {
  expectCount(count, 0)
  return { type: ExpressionType.REMOVAL, evaluate: ({ loop }) => loop && null }
}

export const loopVariables: Builders = {
  [Opcode.LOOP_VARIABLE]: loopVariable,
  [Opcode.RESULT_REMOVE]: resultRemove,
}
