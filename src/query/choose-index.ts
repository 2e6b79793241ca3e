import { encodeExpression } from '../driver/encode-expression.js'
import type { IndexModel } from '../model/index.js'
import type { MapKey } from '../plan/value.js'
import { tooLongFor, type Lookup, type Term } from './term.js'
import type { UsableIndex } from './usable-indexes.js'

/** An index that can answer a term. */
export interface IndexChoice {
  readonly index: UsableIndex
  readonly term: Term
  readonly lookup: Lookup
}

/** Statistics of the server on an index. */
export interface IndexStatistics {
  readonly entries: number
  /** Records that one value finds, on average. */
  readonly entriesPerValue: number
}

export type StatisticsOf = (index: IndexModel) => IndexStatistics | undefined

/** Without statistics: one value finds fewer records than a range, and a range with two ends fewer than an open one. */
const USUAL: IndexStatistics = { entries: 10_000, entriesPerValue: 10 }
const SHARE_OF_RANGE = 0.1
const SHARE_OF_OPEN_RANGE = 0.5
/** In a small set every index is fast, and the one that is asked should not depend on a few records. */
const LEAST_OF_RANGE = 100

/** Every declared index that answers one of the terms. */
export function fittingIndexes(terms: readonly Term[], indexes: readonly UsableIndex[]): IndexChoice[] {
  return terms.flatMap((term) => {
    const { lookup } = term
    if (lookup === undefined || tooLongFor(lookup) !== undefined) return []
    return indexes.filter((index) => fits(index, lookup)).map((index) => ({ index, term, lookup }))
  })
}

/** The index that is expected to find the fewest records. */
export function mostSelective(choices: readonly IndexChoice[], statistics: StatisticsOf): IndexChoice | undefined {
  let best: IndexChoice | undefined
  let least = Infinity
  for (const choice of choices) {
    const expected = expectedRecords(choice, statistics(choice.index) ?? USUAL)
    if (expected >= least) continue
    best = choice
    least = expected
  }
  return best
}

function expectedRecords({ lookup }: IndexChoice, { entries, entriesPerValue }: IndexStatistics): number {
  const { wanted, isOpen } = lookup
  if ('any' in wanted) return wanted.any.length * entriesPerValue
  return Math.max(LEAST_OF_RANGE, entries * (isOpen ? SHARE_OF_OPEN_RANGE : SHARE_OF_RANGE))
}

function fits(index: UsableIndex, { set, bin, on, steps, expression, wanted }: Lookup): boolean {
  if (index.set !== set || index.bin !== bin || index.on !== on || !isSamePath(index.steps ?? [], steps)) return false
  if (index.calculated !== undefined)
    return expression !== undefined && encodeExpression(expression) === index.calculated
  if (!('any' in wanted)) return index.type === 'numeric'
  return wanted.any.every((value) => TYPE_OF[typeof value] === index.type)
}

const isSamePath = (a: readonly MapKey[], b: readonly MapKey[]): boolean =>
  a.length === b.length && a.every((step, i) => step === b[i])

const TYPE_OF: { readonly [type: string]: IndexModel['type'] } = {
  string: 'string',
  number: 'numeric',
  bigint: 'numeric',
  object: 'blob',
}
