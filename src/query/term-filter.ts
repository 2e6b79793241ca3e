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
    const filters = [this, ...others]
    if (filters.length === 1) return this
    return oneTerm(filters, eitherOf(filters.map((each) => totalOf(termsOf(each)))))
  }

  not(): Filter {
    return oneTerm([this], not(totalOf(this.terms)))
  }
}

/** One `or` of all: `a.or(b).or(c)` is no deeper than `a.or(b, c)`. */
const eitherOf = (either: readonly Expression[]): Expression =>
  or(...either.flatMap((each) => (each.kind === 'call' && each.name === 'or' ? each.args : [each])))

function oneTerm(filters: readonly Filter[], total: Expression): TermFilter {
  const path = [...new Set(filters.flatMap((each) => termsOf(each).map((term) => term.path)))].join(', ')
  return new TermFilter([{ path, expression: total, total }])
}

const totalOf = (terms: readonly Term[]): Expression =>
  terms.length === 1 ? terms[0].total : and(...terms.map(({ total }) => total))

export function termsOf(filter: Filter): readonly Term[] {
  if (filter instanceof TermFilter) return filter.terms
  throw new ConditionProblem('filter', 'it is given something else than a condition', 'Write (x) => x.price.gt(3).')
}
