import type { Expression } from '../plan/expression.js'
import type { Term } from './term.js'
import { ConditionProblem } from './where-errors.js'

/** Levels of a filter: a server follows some hundreds, and so does the stack of this process. */
const MOST_LEVELS = 200
/** Comparisons, values and properties of a filter, which the server looks at for every record. */
const MOST_PARTS = 50_000

/** Refuses a filter that is too deep or too large to be sent. */
export function checkFilterSize(terms: readonly Term[]): void {
  let level: readonly Expression[] = terms.map(({ total }) => total)
  let parts = 0
  for (let depth = 1; level.length > 0; depth++) {
    parts += level.length
    if (depth > MOST_LEVELS)
      throw new ConditionProblem(
        'filter',
        `its conditions are nested more than ${MOST_LEVELS} levels deep`,
        'Join conditions side by side: a.or(b, c, …), or name the values: in([…]).',
      )
    if (parts > MOST_PARTS)
      throw new ConditionProblem(
        'filter',
        `it has more than ${MOST_PARTS.toLocaleString('en')} parts`,
        'Name many values of one property with in([…]), or ask in several queries.',
      )
    level = level.flatMap(argumentsOf)
  }
}

function argumentsOf(expression: Expression): readonly Expression[] {
  return expression.kind === 'call' ? expression.args : 'subject' in expression ? [expression.subject] : []
}
