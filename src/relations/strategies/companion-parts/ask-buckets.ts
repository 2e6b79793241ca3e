import type { EntityModel } from '../../../model/index.js'
import { read } from '../../../plan/command.js'
import type { RecordKey } from '../../../plan/record-key.js'
import type { Reader } from '../../contract/reader.js'
import type { Answer, CompanionQuestion } from '../../write/ask-companions.js'
import type { BucketScheme } from './bucket-scheme.js'

/** Reads which buckets the owners list. */
export async function learnBuckets(
  model: EntityModel,
  scheme: BucketScheme,
  owners: readonly RecordKey[],
  reader: Reader,
): Promise<void> {
  const roots = await reader.read(owners.map((owner) => read(model.name, owner, [scheme.subkeys])))
  owners.forEach((owner, i) => scheme.learn(owner, roots[i]?.bins[scheme.subkeys]))
}

/** Asks those buckets of each owner for which there is a question; the owners say first which there are. */
export async function askBuckets(
  model: EntityModel,
  scheme: BucketScheme,
  owners: readonly RecordKey[],
  reader: Reader,
  question: CompanionQuestion,
): Promise<readonly (readonly Answer[])[]> {
  await learnBuckets(model, scheme, owners, reader)
  const asked = owners.map((owner) =>
    scheme.homes(owner).flatMap((home) => {
      const command = question(home, owner)
      return command === undefined ? [] : [{ home, command }]
    }),
  )
  const records = await reader.read(asked.flat().map(({ command }) => command))
  let at = 0
  return asked.map((homes) => homes.map(({ home }) => ({ home, record: records[at++] })))
}
