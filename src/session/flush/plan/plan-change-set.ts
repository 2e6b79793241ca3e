import { PlanDraft, type Draft, type DraftOptions } from '../../../plan/plan-draft.js'
import type { Reader } from '../../../relations/contract/reader.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import type { ChangeSet } from '../collect/change-set.js'

/** Asks everything that takes part for its commands, all in one tick: what has to be read for them is one batch read. */
export function planChangeSet(
  work: ChangeSet,
  reader: Reader,
  now: Date,
  options?: DraftOptions,
): PlanDraft | Promise<PlanDraft> {
  const draft = new PlanDraft(now, { ...options, deletes: work.deletes })
  const planning = planInto(draft, work, reader)
  return planning === undefined ? draft : planning.then(() => draft)
}

/** The same, as part of a plan that may have begun to run. */
export function planInto(draft: PlanDraft, work: ChangeSet, reader: Reader): void | Promise<void> {
  const reading: Promise<void>[] = []
  const note = (planned: void | Promise<void>): void => {
    if (planned !== undefined) reading.push(planned)
  }
  for (const managed of work.saved) {
    const own = draftFor(managed, draft)
    for (const contributor of managed.mapped.contributors) note(contributor.save(managed, own, reader))
  }
  for (const managed of work.removed) {
    const own = draftFor(managed, draft, work.depthOf(managed))
    for (const contributor of managed.mapped.contributors) note(contributor.remove(managed, own, reader))
  }
  for (const [managed, origins] of work.cascadedFrom) for (const from of origins) draft.tie(managed.key, from.key)
  if (reading.length > 0) return Promise.all(reading).then(() => undefined)
}

/** Where no relation leads here or away, there is nothing to be tied to. */
const draftFor = ({ mapped, key }: ManagedEntity, draft: PlanDraft, depth = 0): Draft =>
  mapped.standsAlone ? draft : draft.for(key, depth)
