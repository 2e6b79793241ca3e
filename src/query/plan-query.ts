import { COMPANION_ROOT_BIN, type EntityModel } from '../model/index.js'
import type { Expression } from '../plan/expression.js'
import type { UserKey } from '../plan/record-key.js'
import { query, type IndexLookup, type QueryCommand } from '../plan/query-command.js'
import { fittingIndexes, mostSelective, type IndexChoice, type StatisticsOf } from './choose-index.js'
import type { Apart } from './field.js'
import { noFittingIndex } from './query-errors.js'
import { allOf, type Term } from './term.js'
import type { UsableIndex } from './usable-indexes.js'
import { badCondition, ConditionProblem } from './where-errors.js'

/** Request of a query, whatever is done with the answer. */
export interface Wanted {
  readonly terms: readonly Term[]
  /** The whole set may be read where no index fits. */
  readonly isScan: boolean
}

/** Plan of a query as it is sent. */
export interface QueryPlan {
  readonly choice: IndexChoice | undefined
  /** Other indexes that would have answered. */
  readonly others: readonly IndexChoice[]
  /** Expression for all that the index does not answer by itself. */
  readonly filter: Expression | undefined
  /** No record can meet the conditions: nothing is sent. */
  readonly isNever: boolean
  /** Set where the command finds companion records, whose owners are then read, and kept where `filter` holds. */
  readonly apart?: Apart
  /** The collection whose members they hold. */
  readonly path?: string
  /** Set where members may be in their owner's record or in companions: the plan that finds the owners themselves. */
  readonly inOwners?: QueryPlan
  /** Members that the companions, or owners, were asked for. */
  readonly members?: readonly UserKey[]
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
export function planQuery(queried: QueriedClass, { terms, isScan }: Wanted): QueryPlan {
  const { model, indexes, always, statistics } = queried
  const isNever = terms.some((term) => term.isNever)
  const lead = leadingTerm(model, terms)
  const choices = fittingIndexes(lead === undefined ? terms : [lead], indexes)
  const choice = mostSelective(choices, statistics)
  if (choice === undefined && !isScan && !isNever) throw noFittingIndex(model, lead === undefined ? terms : [lead])
  const isAnswered = (term: Term): boolean => term === choice?.term && choice.lookup.isExact
  const left = terms.filter((term) => term !== lead && !isAnswered(term))
  const filter = allOf([...always, ...left.map(({ expression }) => expression)])
  const lookups = choice === undefined ? [undefined] : lookupsOf(choice)
  const { name: entity, namespace } = model
  const [set, asked] =
    lead === undefined ? [model.set, filter] : [lead.apart.set, isAnswered(lead) ? undefined : lead.expression]
  const command = (wanted: QueryCommand['bins']): QueryCommand => {
    const bins = lead === undefined ? wanted : [COMPANION_ROOT_BIN]
    const [first, ...others] = lookups.map((index) =>
      query({ entity, namespace, set, bins, ...(index && { index }), ...(asked && { filter: asked }) }),
    )
    return others.length === 0 ? first : query({ ...first, others })
  }
  const others = choices.filter((each) => each !== choice)
  const inOwners =
    lead?.inOwner && planQuery(queried, { terms: terms.map((term) => (term === lead ? lead.inOwner! : term)), isScan })
  const members = lead?.lookup !== undefined && 'any' in lead.lookup.wanted ? lead.lookup.wanted.any : undefined
  const plan = {
    choice,
    others,
    filter,
    isNever,
    command,
    ...(lead && { apart: lead.apart, path: lead.path }),
    ...(inOwners && { inOwners, members }),
  }
  if (choice === undefined || !isScan) return plan
  // Named one by one: a source computes them, so that no spread would copy them.
  const withoutIndex = (): QueryPlan => planQuery({ model, always, statistics, indexes: [] }, { terms, isScan })
  return { ...plan, withoutIndex }
}

type ApartTerm = Term & Required<Pick<Term, 'apart'>>

/** A condition on companion records must find them: no filter of their owner's record can look into them. */
function leadingTerm(model: EntityModel, terms: readonly Term[]): ApartTerm | undefined {
  const [lead, other] = terms.filter((term): term is ApartTerm => term.apart !== undefined)
  if (other === undefined) return lead
  const message = `members in companion records are asked for beside those of ${lead.path}, and only one can be`
  const fix = 'Ask for one, and look at the entities it finds for the other: await entity.collection.contains(member).'
  throw badCondition(model, new ConditionProblem(other.path, message, fix))
}

function lookupsOf({ index, lookup: { wanted } }: IndexChoice): IndexLookup[] {
  const { name, bin, on, steps, expression } = index
  const asked = { name, bin, on, ...(steps && { steps }), ...(expression && { expression }) }
  if ('any' in wanted) return wanted.any.map((value) => ({ ...asked, value }))
  return [{ ...asked, value: wanted.from, to: wanted.to }]
}
