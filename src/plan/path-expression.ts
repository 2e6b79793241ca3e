import type { BinType, Expression, PathExpression, PathLevel } from './expression.js'

/** The child that a path has reached, inside a condition or a change. */
export const loopVariable = (type: BinType): Expression => Object.freeze({ kind: 'loopVariable', type })

/** As the change of a path: the child is taken out. */
export const takenOut = (): Expression => Object.freeze({ kind: 'takenOut' })

/** All children of a list or map, or those that meet a condition. */
export const children = (where?: Expression): PathLevel => Object.freeze({ in: 'children', where })

/** The values that a path leads to, as a list. */
export const selectPath = (subject: Expression, levels: readonly PathLevel[]): PathExpression =>
  Object.freeze({ kind: 'path', subject, levels, type: 'list' })

/** The whole `subject`, where each value that the path leads to has become `change`. */
export const changePath = (
  subject: Expression,
  levels: readonly PathLevel[],
  change: Expression,
  type: 'list' | 'map',
): PathExpression => Object.freeze({ kind: 'path', subject, levels, type, change })
