import type { Value } from '../value/value.js'
import { typeOfValue } from './expression-type.js'
import { constantNode, invalid, type Node } from './node.js'

/** Everything but a list stands for itself; wildcards and unknown tags are not values of an expression. */
export function literal(value: Value): Node {
  const type = typeOfValue(value)
  if (type === undefined) throw invalid('this value cannot stand in an expression')
  return constantNode(type, value)
}
