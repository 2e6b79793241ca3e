import { CommandError, ResultCode } from '../protocol/result-code.js'
import { storable } from '../value/storable.js'
import { ListValue, MapValue, type Value } from '../value/value.js'
import { workOn } from '../value/work-on.js'
import { isContainer } from './context-search.js'
import type { Container } from './operation.js'
import type { Loop, Path } from './path.js'
import { childrenIn, isBare, visitChildren } from './path-children.js'
import { sortedCopy } from './search.js'

export const REMOVED = Symbol('removed')
type Outcome = Value | typeof REMOVED

/** The new value of a child, `REMOVED` where the child is to go, undefined where the new value is unknown. */
type Replace = (loop: Loop) => Outcome | undefined

/** Replaces or removes the children that a path leads to; answers the same object where nothing changed. */
export function modifyByPath(subject: Container, path: Path, replace: Replace): Container {
  return modify(subject, path, 0, replace)
}

function modify(container: Container, path: Path, depth: number, replace: Replace): Container {
  if (isBare(container)) return container
  const isLast = depth === path.levels.length - 1
  let outcomes: Outcome[] | undefined
  visitChildren(container, path, depth, (child, position) => {
    const outcome = isLast ? replaced(child, { container, position }, path, replace) : changedInside(child)
    if (outcome !== child) (outcomes ??= childrenIn(container).slice())[position] = outcome
  })
  return outcomes === undefined ? container : rebuild(container, outcomes)

  function changedInside(child: Value): Value {
    return isContainer(child) ? modify(child, path, depth + 1, replace) : child
  }
}

function replaced(child: Value, loop: Loop, path: Path, replace: Replace): Outcome {
  const outcome = replace(loop)
  if (outcome === REMOVED) return outcome
  if (outcome !== undefined) {
    workOn(outcome)
    return storable(outcome)
  }
  if (path.noFail) return child
  throw new CommandError(ResultCode.UNKNOWN, 'the new value is unknown')
}

function rebuild(container: Container, outcomes: readonly Outcome[]): Container {
  const values = outcomes.filter((outcome) => outcome !== REMOVED)
  if (container instanceof ListValue) {
    return new ListValue(container.ordered ? sortedCopy(values) : values, container.flags)
  }
  const keys = container.keys.filter((_, position) => outcomes[position] !== REMOVED)
  return new MapValue(keys, values, container.flags)
}
