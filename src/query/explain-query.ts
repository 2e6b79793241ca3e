import type { Expression } from '../plan/expression.js'
import { showExpression } from '../plan/show-expression.js'
import { showLookup } from '../plan/show-query.js'
import type { QueryCommand } from '../plan/query-command.js'
import type { QueryPlan } from './plan-query.js'

/** Plan of a query, which is not carried out. */
export interface QueryExplanation {
  readonly className: string
  /** Name of the index that is used; undefined where the whole set is read. */
  readonly index: string | undefined
  /** Indexes that fit as well. */
  readonly otherIndexes: readonly string[]
  /** Done by the server, step by step. */
  readonly server: readonly string[]
  /** Done in this process. */
  readonly here: readonly string[]
  toString(): string
}

export function explainQuery(plan: QueryPlan, bins: QueryCommand['bins'], here: readonly string[]): QueryExplanation {
  const command = plan.command(bins)
  const { choice, others, isNever, apart, inOwners } = plan
  const { entity } = command
  const found = [
    ...(inOwners === undefined ? [] : stepsOf(inOwners, inOwners.command(bins))),
    ...stepsOf(plan, command),
  ]
  const server = isNever ? [] : found
  const again =
    inOwners === undefined ? [] : ['asks both again for records that have changed meanwhile, and shows each once']
  const done = apart === undefined || isNever ? here : [ownersRead(entity, plan.filter), ...again, ...here]
  const lines = [
    `query ${entity}`,
    ...server.map((each) => `  the server ${each}`),
    ...(isNever ? ['  nothing is sent: no record can meet the conditions'] : []),
    ...done.map((each) => `  here: ${each}`),
  ]
  return {
    className: entity,
    index: choice?.index.name,
    otherIndexes: [...new Set(others.map(({ index }) => index.name))],
    server,
    here: done,
    toString: () => lines.join('\n'),
  }
}

/** Work of the server to find the records of one set. */
function stepsOf({ choice, apart, filter: all }: QueryPlan, command: QueryCommand): readonly string[] {
  const filter = apart === undefined ? all : command.filter
  const { set, bins } = command
  const lookups = [command, ...(command.others ?? [])].flatMap(({ index }) => index ?? [])
  const find =
    choice === undefined
      ? `reads every record of the set '${set}'`
      : `asks the index ${choice.index.name} for ${lookups.map((each) => showLookup(each, { keys: true })).join(' or ')}`
  return [
    find,
    ...(filter === undefined ? [] : [`keeps those for which ${showExpression(filter, true)}`]),
    `sends ${bins === 'all' ? 'all bins' : bins === 'none' ? 'no bins' : `the bins ${bins.join(', ')}`}`,
  ]
}

function ownersRead(entity: string, filter: Expression | undefined): string {
  const kept = filter === undefined ? '' : `, of which the server keeps those for which ${showExpression(filter, true)}`
  return `reads the records of ${entity} that they belong to, in batches${kept}`
}
