import type { MemberNote } from '../declaration.js'
import { STRATEGIES, type RelationDecorator, type StrategyRules } from './strategies.js'

/** The rules of the strategy that a relation asks for; undefined when there is no such strategy. */
export function findRules(note: MemberNote<RelationDecorator>): StrategyRules | undefined {
  const known = STRATEGIES[note.decorator]
  const wanted = askedStrategy(note)
  return wanted === undefined ? known[0] : known.find((rules) => rules.strategy === wanted)
}

/** Strategy named in the options; undefined means the default. */
export function askedStrategy({ options }: MemberNote<RelationDecorator>): string | undefined {
  if ('strategy' in options) return options.strategy
  return 'attributes' in options && options.attributes !== undefined ? 'linkMap' : undefined
}
