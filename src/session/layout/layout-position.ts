import { readPosition } from '../../driver/query-position.js'

/** Position of a run over the records of several classes. */
interface LayoutPosition {
  readonly className: string
  /** Undefined where all records of the class are done. */
  readonly position: string | undefined
}

const DONE = 'done'

export const showPosition = (className: string, position: string | undefined): string =>
  `${className}:${position ?? DONE}`

export function positionIn(text: string): LayoutPosition {
  const at = text.indexOf(':')
  const position = text.slice(at + 1)
  return { className: text.slice(0, Math.max(0, at)), position: position === DONE ? undefined : position }
}

/** True for a class with records that lie behind the position; classes are walked in the order of their names. */
export const isAhead = (name: string, { className, position }: LayoutPosition): boolean =>
  name > className || (name === className && position !== undefined)

/** False for a text that no run has reported. */
export function isPosition({ position }: LayoutPosition): boolean {
  if (position === undefined) return true
  try {
    return readPosition(position).width > 0
  } catch {
    return false
  }
}
