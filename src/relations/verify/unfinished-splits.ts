import { read } from '../../plan/command.js'
import { readBin } from '../../plan/operations.js'
import type { Finding } from '../contract/finding.js'
import { describeUnfinished } from './describe-finding.js'
import { ABOUT_RECORD, readingOf } from './read-ends.js'
import type { RepairResult } from './repair-links.js'
import type { Subject, VerifyAccess, VerifyTerms } from './verify-access.js'

/** Finds collections whose members were on the move to other records when a process ended, and goes on with it. */
export async function* unfinishedSplits(
  subjects: readonly Subject[],
  access: VerifyAccess,
  { repair, settle }: VerifyTerms,
  unsettled: () => void,
): AsyncGenerator<Finding> {
  const growing = subjects.flatMap((subject) => [
    ...subject.relations.flatMap(({ apart, list }) =>
      // Ended links move with the others.
      apart?.growing === undefined || list === undefined
        ? []
        : [{ ...subject, store: apart.growing, property: list.property }],
    ),
    ...subject.inside.flatMap(({ apart }) =>
      apart?.growing === undefined ? [] : [{ ...subject, store: apart.growing, property: apart.property }],
    ),
  ])
  const records = await access.read(
    growing.map(({ model, key, store }) =>
      read(model.name, key, 'none', [...ABOUT_RECORD, ...store.schemeBins.map(readBin)]),
    ),
  )
  for (const [i, { model, key, store, property }] of growing.entries()) {
    const record = records[i]
    if (record === null) continue
    store.learn(key, record.bins)
    const { age, isDeleting } = readingOf(record)
    if (isDeleting || !store.isUnsettled(key)) continue
    if (age < settle) unsettled()
    else {
      const result: RepairResult = repair
        ? await store.finish(key, access.split).then(
            () => ({ state: 'repaired' }),
            (error: Error) => ({ state: 'failed', error }),
          )
        : { state: 'found' }
      yield { ...describeUnfinished(model, key, property, access.showKey), ...result }
    }
  }
}
