import type { BinType, Expression } from './expression.js'
import type { Path } from './operation.js'
import type { Value } from './value.js'

/** Calls that answer a question about a list or map. */
export type CollectionQuestion =
  | 'listSize'
  | 'listSlice'
  | 'listRankSlice'
  | 'listCountOf'
  | 'listIndexesOf'
  | 'listRanksOf'
  | 'listInterval'
  | 'listIntervalCount'
  | 'mapSize'
  | 'mapKeySlice'
  | 'mapValueSlice'
  | 'mapKeysByRank'
  | 'mapValuesByRank'
  | 'mapKeysAmong'
  | 'mapValuesAmong'
  | 'mapCountAmong'
  | 'mapRankOfKey'
  | 'mapIndexOfKey'

/** Calls that answer a changed copy of a list or map. */
export type CollectionEdit =
  | 'listAppend'
  | 'listAppendUnique'
  | 'listInsert'
  | 'listInsertUnique'
  | 'listSet'
  | 'listIncrement'
  | 'listRemoveValues'
  | 'listRemoveRange'
  | 'listRemoveRankRange'
  | 'listRemoveInterval'
  | 'listKeepInterval'
  | 'listClear'
  | 'mapPut'
  | 'mapPutItems'
  | 'mapIncrement'
  | 'mapRemoveKeys'
  | 'mapClear'

/** A call of a list or map operation on the result of another expression, optionally on a value nested in it. */
export interface CollectionExpression {
  readonly kind: 'collection'
  readonly name: CollectionQuestion | CollectionEdit
  readonly subject: Expression
  readonly args: readonly Value[]
  readonly type: BinType
  readonly path?: Path
}

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
