import { requestBudget } from '../protocol/request-budget.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { ListValue, type Value } from '../value/value.js'
import { ReturnType } from './return-type.js'
import { oneByOne, type Span } from './span.js'

/** Steps that making and reading one run takes. */
const STEPS_PER_RUN = 4

/** The elements a call selected, in each of the orders in which they may be asked for. */
export interface Selection {
  /** Positions in the container, ascending: what a removal takes away. */
  readonly positions: readonly number[]
  readonly exists: boolean
  /** Positions in the order in which elements come back. */
  readonly elements: readonly number[]
  /** Indexes and ranks as runs, in the order in which they come back; each run comes back ascending, even reversed. */
  readonly indexes: () => readonly Span[]
  readonly ranks: () => readonly Span[]
}

/** A selection whose elements come back in the order of their positions, unless something else is said. */
export function selection(
  positions: readonly number[],
  ranks: () => readonly Span[],
  differences: Partial<Selection> = {},
): Selection {
  return {
    positions,
    exists: positions.length > 0,
    elements: positions,
    indexes: () => oneByOne(positions),
    ranks,
    ...differences,
  }
}

/** The answers that lists and maps share; undefined where the type asks for the elements themselves. */
export function positionResult(chosen: Selection, type: number, size: number, single: boolean): Value | undefined {
  switch (type) {
    case ReturnType.NONE:
      return null
    case ReturnType.COUNT:
      return chosen.positions.length
    case ReturnType.EXISTS:
      return chosen.exists
    case ReturnType.INDEX:
      return integers(chosen.indexes(), single)
    case ReturnType.REVERSE_INDEX:
      return integers(reverse(chosen.indexes(), size), single)
    case ReturnType.RANK:
      return integers(chosen.ranks(), single)
    case ReturnType.REVERSE_RANK:
      return integers(reverse(chosen.ranks(), size), single)
  }
  return undefined
}

function integers(runs: readonly Span[], single: boolean): Value {
  requestBudget.work(runs.length * STEPS_PER_RUN)
  const values: number[] = []
  for (const { start, count } of runs) for (let i = 0; i < count; i++) values.push(start + i)
  requestBudget.work(values.length)
  if (!single) return new ListValue(values)
  return values.length === 0 ? -1 : values[0]
}

function reverse(runs: readonly Span[], size: number): Span[] {
  return runs.map(({ start, count }) => ({ start: size - start - count, count }))
}

export function badReturnType(type: number): CommandError {
  return new CommandError(ResultCode.NOT_APPLICABLE, `return type ${type} does not fit`)
}

export function requireNotInverted(inverted: boolean): void {
  if (inverted) throw new CommandError(ResultCode.NOT_APPLICABLE, 'one element cannot be selected inversely')
}
