import type { EntityModel } from '../../model/index.js'
import { read, type ReadCommand } from '../../plan/command.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { FoundHomes } from '../contract/index-lookup.js'
import type { Reader } from '../contract/reader.js'
import type { Answer, CompanionQuestion } from '../write/ask-companions.js'
import type { BucketScheme } from './bucket-scheme.js'

type Asking = Pick<Reader, 'read'>

/** Reads which buckets the owners list. */
export async function learnBuckets(
  model: EntityModel,
  scheme: BucketScheme,
  owners: readonly RecordKey[],
  reader: Asking,
): Promise<void> {
  const roots = await reader.read(rootsOf(model, scheme, owners))
  owners.forEach((owner, i) => scheme.learn(owner, roots[i]?.bins))
}

/**
 * Asks those buckets of each owner for which there is a question: those in `found`, or all. The owners are read in the same batch: they may
 * list more than are known here.
 */
export async function askBuckets(
  model: EntityModel,
  scheme: BucketScheme,
  owners: readonly RecordKey[],
  reader: Asking,
  question: CompanionQuestion,
  found?: FoundHomes,
): Promise<readonly (readonly Answer[])[]> {
  const records = new Map<string, StoredRecord | null>()
  const homesOf = (owner: RecordKey): readonly RecordKey[] => found?.get(recordId(owner)) ?? scheme.homes(owner)
  const asked = askedOf(homesOf, owners, question).flat()
  const [roots, known] = await Promise.all([
    reader.read(rootsOf(model, scheme, owners)),
    reader.read(asked.map(({ command }) => command)),
  ])
  asked.forEach(({ home }, i) => records.set(recordId(home), known[i]))
  owners.forEach((owner, i) => scheme.learn(owner, roots[i]?.bins))
  const listed = askedOf(homesOf, owners, question)
  const more = listed.flat().filter(({ home }) => !records.has(recordId(home)))
  const others = more.length === 0 ? [] : await reader.read(more.map(({ command }) => command))
  more.forEach(({ home }, i) => records.set(recordId(home), others[i]))
  return listed.map((homes) => homes.map(({ home }) => ({ home, record: records.get(recordId(home))! })))
}

interface Asked {
  readonly home: RecordKey
  readonly command: ReadCommand
}

function askedOf(
  homesOf: (owner: RecordKey) => readonly RecordKey[],
  owners: readonly RecordKey[],
  question: CompanionQuestion,
): readonly (readonly Asked[])[] {
  return owners.map((owner) =>
    homesOf(owner).flatMap((home) => {
      const command = question(home, owner)
      return command === undefined ? [] : [{ home, command }]
    }),
  )
}

const rootsOf = (model: EntityModel, { names }: BucketScheme, owners: readonly RecordKey[]): ReadCommand[] =>
  owners.map((owner) => read(model.name, owner, names))
