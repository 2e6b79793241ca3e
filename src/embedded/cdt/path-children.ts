import { requestBudget } from '../protocol/request-budget.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { compareValues, equalValues } from '../value/compare.js'
import { ListValue, MapValue, type Value } from '../value/value.js'
import type { ContextLevel } from './context-level.js'
import { integerOf } from './context-search.js'
import type { Container } from './operation.js'
import type { Path, PathStep } from './path.js'
import { rankFromHighEnd } from './rank-selection.js'
import { equalSpan, findSorted } from './search.js'
import { inside, positionIn } from './span.js'

const STEPS_PER_VISIT = 32
const STEPS_PER_KEY = 8

export function childrenIn(container: Container): readonly Value[] {
  return container instanceof ListValue ? container.items : container.values
}

/** True for an empty container without an order, at which the server turns back before it looks at the level. */
export function isBare(container: Container): boolean {
  return container.flags === 0 && childrenIn(container).length === 0
}

/** Visits the children that a level leads to, in ascending order; each is filtered just before it is visited. */
export function visitChildren(
  container: Container,
  { levels, noFail }: Path,
  depth: number,
  visit: (child: Value, position: number) => void,
): void {
  const { step, filter } = levels[depth]
  const children = childrenIn(container)
  requestBudget.work(STEPS_PER_VISIT + children.length + (step.by === 'keys' ? step.keys.length * STEPS_PER_KEY : 0))
  // The server takes an unknown filter after a step to elements of a list for a false one.
  const isLenient = noFail || ('container' in step && container instanceof ListValue)
  for (const position of reached(container, step)) {
    if (filter !== undefined) {
      const passes = filter({ container, position })
      if (passes === undefined && !isLenient) throw unknownFilter()
      if (passes !== true) continue
    }
    visit(children[position], position)
  }
}

function reached(container: Container, step: PathStep): Iterable<number> {
  if (step.by === 'all') return childrenIn(container).keys()
  if (step.by === 'keys') return keyPositions(requireMap(container), step.keys)
  if (step.container === 'list') requireList(container)
  if (step.container === 'map') requireMap(container)
  return container instanceof ListValue ? listPositions(container, step) : mapPositions(container, step)
}

function keyPositions(map: MapValue, keys: readonly Value[]): number[] {
  return keys.map((key) => findSorted(map.keys, key)).filter((position) => position >= 0)
}

function listPositions(list: ListValue, level: ContextLevel): number[] {
  if (level.by === 'value') {
    return list.ordered ? inside(equalSpan(list.items, level.value)) : equalPositions(list.items, level.value)
  }
  const position = positionIn(integerOf(level), list.items.length)
  if (position < 0) return []
  return [level.by === 'rank' && !list.ordered ? rankFromHighEnd(list.items, position) : position]
}

function mapPositions(map: MapValue, level: ContextLevel): number[] {
  if (level.by === 'key') return keyPositions(map, [level.value])
  if (level.by === 'value') return equalPositions(map.values, level.value)
  const index = integerOf(level)
  const position = positionIn(index, map.keys.length)
  if (position < 0) return []
  return [level.by === 'rank' ? rankedEntry(map.values, index) : position]
}

function equalPositions(values: readonly Value[], wanted: Value): number[] {
  return [...values.keys()].filter((position) => equalValues(values[position], wanted))
}

/** The position of the entry that has a rank; of equal values, paths count the last one first, from either end. */
function rankedEntry(values: readonly Value[], rank: number): number {
  const direction = rank < 0 ? -1 : 1
  const order = [...values.keys()].sort((a, b) => direction * compareValues(values[a], values[b]) || b - a)
  return order[rank < 0 ? -1 - rank : rank]
}

function requireList(container: Container): void {
  if (!(container instanceof ListValue)) throw wrongContainer()
}

function requireMap(container: Container): MapValue {
  if (container instanceof MapValue) return container
  throw wrongContainer()
}

function wrongContainer(): CommandError {
  return new CommandError(ResultCode.PARAMETER, 'the path does not fit the kind of its container')
}

function unknownFilter(): CommandError {
  return new CommandError(ResultCode.PARAMETER, 'a filter has no known value')
}
