import type { EntityModel } from '../model/index.js'
import type { Expression } from '../plan/expression.js'
import { query, type IndexLookup, type QueryCommand } from '../plan/query-command.js'
import { fittingIndexes, mostSelective, type IndexChoice, type StatisticsOf } from './choose-index.js'
import { noFittingIndex } from './query-errors.js'
import { allOf, type Term } from './term.js'
import type { UsableIndex } from './usable-indexes.js'

/** What a query is asked for, whatever is done with the answer. */
export interface Wanted {
  readonly terms: readonly Term[]
  /** The whole set may be read where no index fits. */
  readonly isScan: boolean
}

/** How a query is sent. */
export interface QueryPlan {
  readonly choice: IndexChoice | undefined
  /** Other indexes that would have answered. */
  readonly others: readonly IndexChoice[]
  /** One expression for all that the index does not answer by itself. */
  readonly filter: Expression | undefined
  /** No record can meet the conditions: nothing is sent. */
  readonly isNever: boolean
  command(bins: QueryCommand['bins']): QueryCommand
  /** The plan that reads the whole set, where an index was chosen and a scan is allowed. */
  readonly withoutIndex?: () => QueryPlan
}

/** Facts of a class that its queries are planned with. */
export interface QueriedClass {
  readonly model: EntityModel
  readonly indexes: readonly UsableIndex[]
  /** Expressions that hold for all its records. */
  readonly always: readonly Expression[]
  readonly statistics: StatisticsOf
}

/** Chooses the index and turns everything else into one filter; throws where only a scan would answer and none was asked for. */
export function planQuery({ model, indexes, always, statistics }: QueriedClass, { terms, isScan }: Wanted): QueryPlan {
  const isNever = terms.some((term) => term.isNever)
  const choices = fittingIndexes(terms, indexes)
  const choice = mostSelective(choices, statistics)
  if (choice === undefined && !isScan && !isNever) throw noFittingIndex(model, terms)
  const left = terms.filter((term) => term !== choice?.term || !choice.lookup.isExact)
  const filter = allOf([...always, ...left.map(({ expression }) => expression)])
  const lookups = choice === undefined ? [undefined] : lookupsOf(choice)
  const { name: entity, namespace, set } = model
  const command = (bins: QueryCommand['bins']): QueryCommand => {
    const [first, ...others] = lookups.map((index) =>
      query({ entity, namespace, set, bins, ...(index && { index }), ...(filter && { filter }) }),
    )
    return others.length === 0 ? first : query({ ...first, others })
  }
  const others = choices.filter((each) => each !== choice)
  if (choice === undefined || !isScan) return { choice, others, filter, isNever, command }
  const withoutIndex = (): QueryPlan => planQuery({ model, always, statistics, indexes: [] }, { terms, isScan })
  return { choice, others, filter, isNever, command, withoutIndex }
}

function lookupsOf({ index, lookup: { wanted } }: IndexChoice): IndexLookup[] {
  const { name, bin, on, steps, expression } = index
  const asked = { name, bin, on, ...(steps && { steps }), ...(expression && { expression }) }
  if ('any' in wanted) return wanted.any.map((value) => ({ ...asked, value }))
  return [{ ...asked, value: wanted.from, to: wanted.to }]
}
