import { ALL_FAULTS, FAULTS } from '../faults/faults.js'
import { MODES, type Mode } from '../server.js'

/** Where moves are disturbed: in steps, and where the namespace has transactions, in one. */
export interface Variant {
  readonly mode: Mode
  readonly title: string
  readonly transactions?: 'off'
}

/** Unless asked for, moves in steps are disturbed only where there are no transactions. */
export const VARIANTS: readonly Variant[] = [
  ...MODES.map((mode) => ({ mode, title: mode })),
  ...(ALL_FAULTS ? [{ mode: 'sc', title: 'sc, without transactions', transactions: 'off' } as const] : []),
]

const CUT_OFF = Object.keys(FAULTS).filter((title) => title.startsWith('cut off'))
const PASSING = Object.keys(FAULTS).filter((title) => !CUT_OFF.includes(title))

/** Faults to try at a command: unless asked for, at some of them; the process is cut off before or after it, and at every third of those one fault passes by. */
export function faultsAt(command: number, every: number): readonly string[] {
  if (ALL_FAULTS) return [...CUT_OFF, ...PASSING]
  const turn = command / every
  if (!Number.isInteger(turn)) return []
  return [CUT_OFF[turn % CUT_OFF.length], ...(turn % 3 === 0 ? [PASSING[(turn / 3) % PASSING.length]] : [])]
}

/** Ways in which an unfinished split is finished. */
export const FINISHERS = ['the next writer', 'verify', 'sweep'] as const
