import { and, type Expression } from '../../plan/expression.js'
import type { Operation } from '../../plan/operation.js'
import { readExpression, touch } from '../../plan/operations.js'
import type { Outcome } from '../../plan/outcome.js'

/** Name of the answer whether conditions hold. */
const ARE_MET = '_sk.met'

/** Asks a record whether it meets the conditions of a change. */
export const askingFor = (conditions: readonly Expression[]): readonly Operation[] => [
  touch(),
  readExpression(ARE_MET, conditions.length === 1 ? conditions[0] : and(...conditions)),
]

export const areMet = ({ bins }: Outcome): boolean => bins[ARE_MET] === true || bins[ARE_MET] === 1
