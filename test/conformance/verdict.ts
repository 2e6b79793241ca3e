import { CANNOT_PASS } from './cannot-pass.js'
import type { Failure, FileResult } from './run-file.js'

/** A file's result, with the failures that have a known reason apart. */
export interface Verdict {
  readonly result: FileResult
  readonly excused: readonly (Failure & { readonly reason: string })[]
  readonly failing: readonly Failure[]
  readonly ok: boolean
}

export function judge(result: FileResult): Verdict {
  const reasons = CANNOT_PASS[result.file.name] ?? {}
  const excused = result.failures.flatMap((failure) => {
    const reason = reasons[failure.title]
    return reason === undefined ? [] : [{ ...failure, reason }]
  })
  const failing = result.failures.filter(({ title }) => reasons[title] === undefined)
  const ok = failing.length === 0 && result.passing + excused.length >= result.file.passing
  return { result, excused, failing, ok }
}
