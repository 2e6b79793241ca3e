import { asReturned } from '../codec/index.js'
import type { Path } from '../plan/operation.js'
import type { Value } from '../plan/value.js'
import type { Question } from './question.js'
import { compareValues, entriesOf, isMap, type Entries } from '../plan/value-order.js'

/** The list or map under a path of a stored value; undefined where there is none. */
export function containerAt(root: Value | undefined, path: Path): Value | undefined {
  let at = root
  for (const step of path) {
    if (step.in !== 'mapKey' || !isMap(at)) return undefined
    at = entriesOf(at as Value).find(([key]) => compareValues(key, step.key) === 0)?.[1]
  }
  return at ?? undefined
}

/** Answers a question about a value that has no record yet, as the server would and the client shows it. */
export function answerLocally(container: Value | undefined, { name, args }: Question): Value | undefined {
  const isAboutList = name.startsWith('list')
  // The server has no answer about a value of another kind.
  if (isAboutList ? !Array.isArray(container) : !isMap(container)) return undefined
  const answer = isAboutList
    ? listAnswer(container as readonly Value[], name, args)
    : mapAnswer(entriesOf(container as Value), name, args)
  return answer === undefined ? undefined : asReturned(answer)
}

function listAnswer(list: readonly Value[], name: Question['name'], args: readonly Value[]): Value | undefined {
  const [first, second] = args
  const isEqual = (item: Value): boolean => compareValues(item, first) === 0
  const isBetween = (item: Value): boolean =>
    (first === null || compareValues(item, first) >= 0) && (second === undefined || compareValues(item, second) < 0)
  switch (name) {
    case 'listSize':
      return list.length
    case 'listSlice':
      return sliceOf(list, first as number, second as number)
    case 'listRankSlice':
      return sliceOf(list.toSorted(compareValues), first as number, second as number)
    case 'listCountOf':
      return list.filter(isEqual).length
    case 'listIndexesOf':
      return list.flatMap((item, i) => (isEqual(item) ? [i] : []))
    case 'listRanksOf':
      return list.toSorted(compareValues).flatMap((item, i) => (isEqual(item) ? [i] : []))
    case 'listInterval':
      return list.filter(isBetween)
    case 'listIntervalCount':
      return list.filter(isBetween).length
    default:
      return undefined
  }
}

function mapAnswer(entries: Entries, name: Question['name'], args: readonly Value[]): Value | undefined {
  const byKey = entries.toSorted(([a], [b]) => compareValues(a, b))
  const byValue = byKey.toSorted(([, a], [, b]) => compareValues(a, b))
  const [first, second] = args
  const wanted = Array.isArray(first) ? (first as readonly Value[]) : []
  const among = byKey.filter(([key]) => wanted.some((one) => compareValues(one, key) === 0))
  const position = (all: Entries): number | undefined => {
    const at = all.findIndex(([key]) => compareValues(key, first) === 0)
    return at < 0 ? undefined : at
  }
  switch (name) {
    case 'mapSize':
      return entries.length
    case 'mapKeySlice':
      return sliceOf(byKey, first as number, second as number).map(([key]) => key)
    case 'mapValueSlice':
      return sliceOf(byKey, first as number, second as number).map(([, value]) => value)
    case 'mapKeysByRank':
      return sliceOf(byValue, first as number, second as number).map(([key]) => key)
    case 'mapValuesByRank':
      return sliceOf(byValue, first as number, second as number).map(([, value]) => value)
    case 'mapKeysAmong':
      return among.map(([key]) => key)
    case 'mapValuesAmong':
      return among.map(([, value]) => value)
    case 'mapCountAmong':
      return among.length
    case 'mapRankOfKey':
      return position(byValue)
    case 'mapIndexOfKey':
      return position(byKey)
    default:
      return undefined
  }
}

/** Items by position, as the server counts them: a range that begins before the first item is cut. */
export function sliceOf<T>(items: readonly T[], offset: number, count: number): T[] {
  const begin = offset < 0 ? items.length + offset : offset
  return items.slice(Math.max(0, begin), Math.max(0, begin + count))
}
