import type { CapModel } from '../../../model/index.js'

/** Splits items into those that a cap keeps and those that it drops. */
export function splitByCap<T>(ordered: readonly T[], { keep, by }: CapModel): [readonly T[], readonly T[]] {
  if (by === 'first') return [ordered.slice(0, keep), ordered.slice(keep)]
  const from = Math.max(0, ordered.length - keep)
  return [ordered.slice(from), ordered.slice(0, from)]
}
