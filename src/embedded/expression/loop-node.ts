import type { Loop } from '../cdt/index.js'
import { requestBudget } from '../protocol/request-budget.js'
import type { Value } from '../value/value.js'
import type { Frame, Node, Operands } from './node.js'

/** An expression that is evaluated for each child on a path. */
export interface LoopNode extends Node {
  /** Steps that one evaluation takes, estimated from how long the expression is. */
  readonly cost: number
}

const LEAST_COST = 8
const BYTES_PER_STEP = 4

export function loopNode(operands: Operands): LoopNode {
  const start = operands.position
  const node = operands.node()
  return { ...node, cost: LEAST_COST + (operands.position - start) / BYTES_PER_STEP }
}

/** The value for one child. Expressions on a path see that child and nothing else of the record. */
export function evaluateFor(node: LoopNode, loop: Loop, variables: Frame['variables']): Value | undefined {
  requestBudget.work(node.cost)
  return node.evaluate({ record: undefined, variables, loop })
}
