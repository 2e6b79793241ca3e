import { digestModulo, lt, value } from '../plan/expression.js'
import type { Term } from './term.js'

/** Shares are told apart to this fraction. */
const PARTS = 1_000_000

/** Holds for a share of all records, which their digests choose. */
export function sampleTerm(share: number): Term {
  const expression = lt(digestModulo(PARTS), value(Math.round(share * PARTS)))
  return { path: 'sample', expression, total: expression }
}
