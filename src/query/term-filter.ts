import type { EntityClass } from '../model/index.js'
import { and, not, or, type Expression } from '../plan/expression.js'
import type { Filter } from './filter-types.js'
import type { Term } from './term.js'
import { ConditionProblem, OfAnotherQuery } from './where-errors.js'

/** Conditions that must all hold, as a filter: `and` keeps them apart, so that an index can still answer one of them. */
export class TermFilter implements Filter {
  /** The class whose properties it is about; undefined where it compares numbers alone. */
  readonly of: EntityClass | undefined
  readonly terms: readonly Term[]

  constructor(of: EntityClass | undefined, terms: readonly Term[]) {
    this.of = of
    this.terms = terms
  }

  and(...others: readonly Filter[]): Filter {
    return new TermFilter(
      this.of,
      [this, ...others].flatMap((each) => termsOf(each, this.of)),
    )
  }

  or(...others: readonly Filter[]): Filter {
    const filters = [this, ...others]
    if (filters.length === 1) return this
    return this.#oneTerm(filters, eitherOf(filters.map((each) => totalOf(termsOf(each, this.of)))))
  }

  not(): Filter {
    return this.#oneTerm([this], not(totalOf(this.terms)))
  }

  #oneTerm(filters: readonly Filter[], total: Expression): TermFilter {
    const path = [...new Set(filters.flatMap((each) => termsOf(each, this.of).map((term) => term.path)))].join(', ')
    return new TermFilter(this.of, [{ path, expression: total, total }])
  }
}

/** Joins all in one `or`: `a.or(b).or(c)` is no deeper than `a.or(b, c)`. */
const eitherOf = (either: readonly Expression[]): Expression =>
  or(...either.flatMap((each) => (each.kind === 'call' && each.name === 'or' ? each.args : [each])))

const totalOf = (terms: readonly Term[]): Expression =>
  terms.length === 1 ? terms[0].total : and(...terms.map(({ total }) => total))

/** The terms of a condition; one that another query's properties were used for would look into the wrong records. */
export function termsOf(filter: Filter, of: EntityClass | undefined): readonly Term[] {
  if (filter instanceof TermFilter) {
    if (filter.of === of) return filter.terms
    throw new OfAnotherQuery(
      filter.of,
      filter.terms.map(({ path }) => path),
    )
  }
  throw new ConditionProblem('filter', 'it was given something other than a condition', 'Write (x) => x.price.gt(3).')
}
