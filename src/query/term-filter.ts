import { and, not, or, type Expression } from '../plan/expression.js'
import type { Filter } from './filter-types.js'
import type { Term } from './term.js'
import { ConditionProblem } from './where-errors.js'

/** Conditions that must all hold, as a filter: `and` keeps them apart, so that an index can still answer one of them. */
export class TermFilter implements Filter {
  readonly terms: readonly Term[]

  constructor(terms: readonly Term[]) {
    this.terms = terms
  }

  and(...others: readonly Filter[]): Filter {
    return new TermFilter([this, ...others].flatMap(termsOf))
  }

  or(...others: readonly Filter[]): Filter {
    const either = [this, ...others].map((each) => totalOf(termsOf(each)))
    return either.length === 1 ? this : oneTerm(this, or(...either))
  }

  not(): Filter {
    return oneTerm(this, not(totalOf(this.terms)))
  }
}

function oneTerm({ terms }: TermFilter, total: Expression): TermFilter {
  const path = [...new Set(terms.map((each) => each.path))].join(', ')
  return new TermFilter([{ path, expression: total, total }])
}

const totalOf = (terms: readonly Term[]): Expression =>
  terms.length === 1 ? terms[0].total : and(...terms.map(({ total }) => total))

export function termsOf(filter: Filter): readonly Term[] {
  if (filter instanceof TermFilter) return filter.terms
  throw new ConditionProblem('filter', 'it is given something else than a condition', 'Write (x) => x.price.gt(3).')
}
