import type { CollectionEdit, CollectionExpression, CollectionQuestion, Expression } from './expression.js'
import type { Path } from './path.js'
import type { Value } from './value.js'

const LISTS: ReadonlySet<CollectionExpression['name']> = new Set<CollectionExpression['name']>([
  'listSlice',
  'listRankSlice',
  'listIndexesOf',
  'listRanksOf',
  'listInterval',
  'mapKeySlice',
  'mapValueSlice',
  'mapKeysByRank',
  'mapValuesByRank',
  'mapKeysAmong',
  'mapValuesAmong',
])

/** Bounds of an interval as arguments: a missing end leaves that side open. */
export const intervalOf = (begin: Value, end: Value): readonly Value[] => (end === null ? [begin] : [begin, end])

/** Asks about the list or map that `subject` is, or that lies in it under `path`. */
export const ask = (
  name: CollectionQuestion,
  subject: Expression,
  args: readonly Value[],
  path?: Path,
): CollectionExpression =>
  Object.freeze({ kind: 'collection', name, subject, args, type: LISTS.has(name) ? 'list' : 'int', path })

/** Answers the whole `subject` with a change; `type` is that of the subject. */
export const edited = (
  name: CollectionEdit,
  subject: Expression,
  args: readonly Value[],
  type: 'list' | 'map',
  path?: Path,
): CollectionExpression => Object.freeze({ kind: 'collection', name, subject, args, type, path })
