import { CommandError, ResultCode } from '../protocol/result-code.js'
import { ListValue, MapValue, type Value } from '../value/value.js'
import { isContainer } from './context-search.js'
import type { Container } from './operation.js'
import type { Path } from './path.js'
import { isBare, visitChildren } from './path-children.js'

/** Kinds of answers to a selection. */
const PathResult = {
  /** The containers on the way, with only the children that the path leads to. */
  TREE: 0,
  VALUES: 1,
  KEYS: 2,
} as const

/** Selects the children that a path leads to; `result` may ask for keys and values both, which then come in turn. */
export function selectByPath(subject: Container, path: Path, result: number): Value {
  if (result === PathResult.TREE) return prune(subject, path, 0)
  const found: Value[] = []
  collect(subject, path, 0, result, found)
  return new ListValue(found)
}

function prune(container: Container, path: Path, depth: number): Container {
  if (isBare(container)) return container
  const isLast = depth === path.levels.length - 1
  const keys: Value[] = []
  const kept: Value[] = []
  visitChildren(container, path, depth, (child, position) => {
    if (container instanceof MapValue) keys.push(container.keys[position])
    kept.push(isLast || !isContainer(child) ? child : prune(child, path, depth + 1))
  })
  return container instanceof MapValue ? new MapValue(keys, kept) : new ListValue(kept)
}

function collect(container: Container, path: Path, depth: number, result: number, found: Value[]): void {
  if (isBare(container)) return
  const isLast = depth === path.levels.length - 1
  if (isLast && result & PathResult.KEYS && container instanceof ListValue) {
    if (path.noFail) return
    throw new CommandError(ResultCode.INCOMPATIBLE_TYPE, 'elements of a list have no keys')
  }
  visitChildren(container, path, depth, (child, position) => {
    if (!isLast) {
      if (isContainer(child)) collect(child, path, depth + 1, result, found)
      return
    }
    if (result & PathResult.KEYS) found.push((container as MapValue).keys[position])
    if (result & PathResult.VALUES) found.push(child)
  })
}
