import { PlanDraft, type DraftOptions } from '../plan/draft.js'
import type { Reader } from '../relations/contributor.js'
import type { Work } from './work.js'

/** Asks everything that takes part for its commands, all in one tick: what has to be read for them is one batch read. */
export function planWork(
  work: Work,
  reader: Reader,
  now: Date,
  options?: DraftOptions,
): PlanDraft | Promise<PlanDraft> {
  const draft = new PlanDraft(now, options)
  const reading: Promise<void>[] = []
  const note = (planned: void | Promise<void>): void => {
    if (planned !== undefined) reading.push(planned)
  }
  for (const managed of work.saved) {
    for (const contributor of managed.mapped.contributors)
      note(contributor.save(managed, draft.for(managed.key), reader))
  }
  for (const managed of work.removed) {
    for (const contributor of managed.mapped.contributors)
      note(contributor.remove(managed, draft.for(managed.key), reader))
  }
  for (const [managed, from] of work.reached) draft.tie(managed.key, from.key)
  return reading.length === 0 ? draft : Promise.all(reading).then(() => draft)
}
