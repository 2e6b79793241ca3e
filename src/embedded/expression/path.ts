import { isContainer, modifyByPath, REMOVED, selectByPath, type Container, type Path } from '../cdt/index.js'
import { requireFeature } from '../build.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { Value } from '../value/value.js'
import { ExpressionType } from './expression-type.js'
import { invalid, type Evaluate, type Frame, type Node, type Operands } from './node.js'
import { parseLevels, type ParsedLevel } from './path-levels.js'

/** A selection or change by path. */
export interface PathCall {
  readonly modifies: boolean
  /** What a selection answers, or what a change makes of its subject. */
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
  const value = modifies ? operands.attempt(() => operands.scope.apart(() => operands.node())) : undefined
  const run = makeRun(levels, flags, modifies, value)
  return {
    modifies,
    run: (subject, variables) => {
      if (!isContainer(subject)) throw new CommandError(ResultCode.INCOMPATIBLE_TYPE, 'a path needs a list or a map')
      // The server looks at the subject before it looks at the levels and at the new value.
      if (run === undefined) throw invalid('malformed path')
      return run(subject, variables)
    },
  }
}

function makeRun(
  levels: readonly ParsedLevel[] | undefined,
  flags: number,
  modifies: boolean,
  value: Node | undefined,
): Run | undefined {
  if (levels === undefined) return undefined
  const noFail = (flags & Flag.NO_FAIL) !== 0
  if (!modifies) {
    return (subject, variables) => selectByPath(subject, bind(levels, noFail, variables), flags & Flag.RESULT)
  }
  return value && modification(levels, noFail, value)
}

function modification(levels: readonly ParsedLevel[], noFail: boolean, { type, evaluate }: Node): Run {
  const removes = type === ExpressionType.REMOVAL
  return (subject, variables) =>
    modifyByPath(subject, bind(levels, noFail, variables), (loop) => {
      const value = evaluate({ record: undefined, variables, loop })
      return removes && value !== undefined ? REMOVED : value
    })
}

function bind(levels: readonly ParsedLevel[], noFail: boolean, variables: Variables): Path {
  return {
    levels: levels.map(({ step, filter }) => ({ step, filter: filter && bindFilter(filter, variables) })),
    noFail,
  }
}

/** Expressions on a path see the child that was reached and nothing else of the record. */
function bindFilter(filter: Evaluate, variables: Variables): Path['levels'][number]['filter'] {
  return (loop) => filter({ record: undefined, variables, loop }) as boolean | undefined
}
