import { CreateMode, parseLevel, type PathStep } from '../cdt/index.js'
import { compareValues } from '../value/compare.js'
import { isInteger, ListValue, type Value } from '../value/value.js'
import { ExpressionType } from './expression-type.js'
import { invalid, type Operands } from './node.js'
import { loopNode, type LoopNode } from './loop-node.js'

export interface ParsedLevel {
  readonly step: PathStep
  readonly filter: LoopNode | undefined
}

/** Levels that only paths have. */
const Level = { ALL_CHILDREN: 0x04, AND_FILTER: 0x204, MAP_KEYS_IN: 0x2a } as const

/** No value is nested more deeply. */
const MAX_LEVELS = 256

const ALL: PathStep = { by: 'all' }

/** Reads `[type, value, type, value, …]`, where the value of some types is an expression. */
export function parseLevels(operands: Operands): ParsedLevel[] {
  const count = operands.enterList()
  if (count === 0 || count % 2 !== 0 || count > 2 * MAX_LEVELS) throw invalid('malformed path')
  const levels: ParsedLevel[] = []
  let previous: number | bigint | undefined
  for (let i = 0; i < count; i += 2) {
    const type = operands.integer()
    if (type === Level.AND_FILTER) levels.push(withFilter(levels.pop(), previous, parseFilter(operands)))
    else if (type === Level.ALL_CHILDREN) levels.push({ step: ALL, filter: parseFilter(operands) })
    else levels.push({ step: parseStep(type, operands.value()), filter: undefined })
    previous = type
  }
  return levels
}

function withFilter(
  level: ParsedLevel | undefined,
  type: number | bigint | undefined,
  filter: LoopNode | undefined,
): ParsedLevel {
  if (level === undefined || type === Level.ALL_CHILDREN || type === Level.AND_FILTER) {
    throw invalid('a further filter must follow a level that has none')
  }
  return { step: level.step, filter }
}

/** True stands for all children; no other constant is a filter. */
function parseFilter(operands: Operands): LoopNode | undefined {
  const filter = loopNode(operands)
  if (filter.type !== ExpressionType.BOOL) throw invalid('a filter must be boolean')
  if (filter.constant === true) return undefined
  if (filter.constant !== undefined) throw invalid('a filter must be an expression')
  return filter
}

function parseStep(type: Value, value: Value): PathStep {
  if (type === Level.MAP_KEYS_IN) return { by: 'keys', keys: keysOf(value) }
  const level = parseLevel(type, value)
  if (level.by === undefined || level.create !== CreateMode.NEVER || level.persist) throw invalid('malformed path')
  if ((level.by === 'index' || level.by === 'rank') && !isInteger(value)) throw invalid('malformed path')
  if (level.by === 'key' && level.container !== 'map') throw invalid('malformed path')
  return level
}

function keysOf(value: Value): Value[] {
  if (!(value instanceof ListValue)) throw invalid('the keys of a path must be a list')
  const sorted = value.items.toSorted(compareValues)
  return sorted.filter((key, i) => i === 0 || compareValues(sorted[i - 1], key) !== 0)
}
