import { CommandError, ResultCode } from '../protocol/result-code.js'

/** A run of positions (or ranks) in a container. */
export interface Span {
  readonly start: number
  readonly count: number
}

/** The position an index or a rank stands for; negative ones count from the end. */
export function positionOf(index: number, size: number): number {
  const position = positionIn(index, size)
  if (position < 0) throw new CommandError(ResultCode.NOT_APPLICABLE, 'out of bounds')
  return position
}

/** Like `positionOf`, but -1 where it is out of bounds. */
export function positionIn(index: number, size: number): number {
  const position = index < 0 ? size + index : index
  return position < size ? Math.max(-1, position) : -1
}

/** The part of a range that lies inside the container. */
export function clip(index: number, count: number, size: number): Span {
  if (index >= size) return { start: size, count: 0 }
  const start = index < 0 ? size + index : index
  if (start < 0) return { start: 0, count: Math.min(size, Math.max(0, count + start)) }
  return { start, count: Math.min(count, size - start) }
}

/** Like `clip`, for an index counted from `origin`; what lies before the first element shortens the range. */
export function clipFrom(origin: number, index: number, count: number, size: number): Span {
  const start = origin + index
  if (start >= 0) return clip(start, count, size)
  return clip(0, Math.max(0, count + start), size)
}

export function inside(span: Span): number[] {
  return Array.from({ length: span.count }, (_, i) => span.start + i)
}

function outside(span: Span, size: number): number[] {
  const end = span.start + span.count
  return Array.from({ length: size - span.count }, (_, i) => (i < span.start ? i : i - span.start + end))
}

export function insideOrOutside(span: Span, size: number, inverted: boolean): number[] {
  return inverted ? outside(span, size) : inside(span)
}

/** Selected positions as runs: one inside, or one before and one after. */
export function runsOf(span: Span, size: number, inverted: boolean): readonly Span[] {
  if (!inverted) return [span]
  const end = span.start + span.count
  return [
    { start: 0, count: span.start },
    { start: end, count: size - end },
  ]
}

export function oneByOne(positions: readonly number[]): readonly Span[] {
  return positions.map((start) => ({ start, count: 1 }))
}

/** The positions that are not in `positions`, which are ascending. */
export function complement(positions: readonly number[], size: number): number[] {
  const rest: number[] = []
  let next = 0
  for (let i = 0; i < size; i++) {
    if (positions[next] === i) next++
    else rest.push(i)
  }
  return rest
}

/** The runs between the given ones. */
export function gapsBetween(spans: readonly Span[], size: number): Span[] {
  const gaps: Span[] = []
  let from = 0
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    gaps.push({ start: from, count: span.start - from })
    from = span.start + span.count
  }
  gaps.push({ start: from, count: size - from })
  return gaps
}
