import { isContainer, modifyByPath, REMOVED, selectByPath, type Container, type Path } from '../cdt/index.js'
import { requireFeature } from '../build.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { requestBudget } from '../protocol/request-budget.js'
import { encodedSize } from '../value/encoded-size.js'
import type { Value } from '../value/value.js'
import { ExpressionType } from './expression-type.js'
import { evaluateFor, loopNode, type LoopNode } from './loop-node.js'
import { invalid, type Frame, type Operands } from './node.js'
import { parseLevels, type ParsedLevel } from './path-levels.js'

/** A selection or change by path. */
export interface PathCall {
  readonly modifies: boolean
  /** Answers a selection, or the changed subject. */
  run(subject: Value | undefined, variables: Frame['variables']): Value
}

type Variables = Frame['variables']
type Run = (subject: Container, variables: Variables) => Value

const Flag = { RESULT: 3, MODIFY: 4, NO_FAIL: 0x10 } as const
const KNOWN_FLAGS = Flag.RESULT | Flag.MODIFY | Flag.NO_FAIL

/** Reads `[opcode, levels, flags]` or, for a change, `[opcode, levels, flags, new value]`. */
export function parsePath(operands: Operands): PathCall {
  requireFeature('pathExpressions')
  const count = operands.enterList()
  operands.integer()
  const levels = operands.attempt(() => operands.scope.apart(() => parseLevels(operands)))
  const flags = Number(operands.integer())
  const modifies = (flags & Flag.MODIFY) !== 0
  if (flags < 0 || flags & ~KNOWN_FLAGS) throw invalid('these flags are not known')
  if (count !== (modifies ? 4 : 3)) throw invalid('a path is its levels, its flags and, to change, a new value')
  const value = modifies ? operands.attempt(() => operands.scope.apart(() => loopNode(operands))) : undefined
  const run = makeRun(levels, flags, modifies, value)
  return {
    modifies,
    run: (subject, variables) => {
      if (!isContainer(subject)) throw new CommandError(ResultCode.INCOMPATIBLE_TYPE, 'a path needs a list or a map')
      // The server looks at the subject before it looks at the levels and at the new value.
      if (run === undefined) throw invalid('malformed path')
      const result = run(subject, variables)
      requestBudget.grow(encodedSize(result) - (modifies ? encodedSize(subject) : 0))
      return result
    },
  }
}

function makeRun(
  levels: readonly ParsedLevel[] | undefined,
  flags: number,
  modifies: boolean,
  value: LoopNode | undefined,
): Run | undefined {
  if (levels === undefined) return undefined
  const noFail = (flags & Flag.NO_FAIL) !== 0
  if (!modifies) {
    return (subject, variables) => selectByPath(subject, bind(levels, noFail, variables), flags & Flag.RESULT)
  }
  return value && modification(levels, noFail, value)
}

function modification(levels: readonly ParsedLevel[], noFail: boolean, node: LoopNode): Run {
  const removes = node.type === ExpressionType.REMOVAL
  return (subject, variables) =>
    modifyByPath(subject, bind(levels, noFail, variables), (loop) => {
      const value = evaluateFor(node, loop, variables)
      return removes && value !== undefined ? REMOVED : value
    })
}

function bind(levels: readonly ParsedLevel[], noFail: boolean, variables: Variables): Path {
  return {
    levels: levels.map(({ step, filter }) => ({ step, filter: filter && bindFilter(filter, variables) })),
    noFail,
  }
}

function bindFilter(filter: LoopNode, variables: Variables): Path['levels'][number]['filter'] {
  return (loop) => requestBudget.temporarily(() => evaluateFor(filter, loop, variables)) as boolean | undefined
}
