import type { CollectionExpression, Expression, ExpressionName, PathExpression } from './expression.js'
import { showValue } from './show-value.js'

const INFIX: Partial<Record<ExpressionName, string>> = {
  eq: '=',
  ne: '≠',
  gt: '>',
  ge: '≥',
  lt: '<',
  le: '≤',
  and: 'and',
  or: 'or',
}

export function showExpression(expression: Expression, values: boolean): string {
  if (expression.kind === 'value') return values ? showValue(expression.value) : '…'
  if (expression.kind === 'bin') return expression.name
  if (expression.kind === 'loopVariable') return 'child'
  if (expression.kind === 'takenOut') return 'nothing'
  if (expression.kind === 'path') return showPath(expression, values)
  if (expression.kind === 'collection') return showCollection(expression, values)
  const infix = INFIX[expression.name]
  // Bin names are part of the model, not data: they are shown even where values are not.
  const args = expression.args.map((arg) => showExpression(arg, values || expression.name === 'binExists'))
  return infix === undefined ? `${expression.name}(${args.join(', ')})` : `(${args.join(` ${infix} `)})`
}

function showPath({ subject, levels, change }: PathExpression, values: boolean): string {
  const steps = levels.map((level) => {
    if (level.in !== 'children') return '[…]'
    return level.where === undefined ? '[*]' : `[* where ${showExpression(level.where, values)}]`
  })
  const target = showExpression(subject, values) + steps.join('')
  return change === undefined ? `select(${target})` : `change(${target} to ${showExpression(change, values)})`
}

function showCollection({ name, subject, args, path = [] }: CollectionExpression, values: boolean): string {
  const shown = args.map((arg) => (values ? showValue(arg) : '…'))
  const steps = path
    .map((step) => ('key' in step ? step.key : 'index' in step ? step.index : '…'))
    .map((at) => `[${values ? showValue(at) : '…'}]`)
  return `${name}(${[showExpression(subject, values) + steps.join(''), ...shown].join(', ')})`
}
