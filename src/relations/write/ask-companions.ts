import type { EntityModel } from '../../model/index.js'
import { read, type ReadCommand } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Reader } from '../contract/reader.js'
import type { CompanionScheme } from './companion-scheme.js'

/** A companion of one owner, and its answer. */
export interface Answer {
  readonly home: RecordKey
  readonly record: StoredRecord | null
}

/** The read of one companion; undefined where it has nothing to say. */
export type CompanionQuestion = (home: RecordKey, owner: RecordKey) => ReadCommand | undefined

/**
 * Asks those companions of each owner for which there is a question. The owners are read in the same batch: where one has another number of
 * shards than is known here, those are asked.
 */
export async function askCompanions(
  model: EntityModel,
  scheme: CompanionScheme,
  owners: readonly RecordKey[],
  reader: Pick<Reader, 'read'>,
  question: CompanionQuestion,
): Promise<readonly (readonly Answer[])[]> {
  const shards = owners.map((owner) => scheme.shardsOf(owner))
  const asked = owners.map((owner) =>
    scheme.homes(owner).flatMap((home) => {
      const command = question(home, owner)
      return command === undefined ? [] : [{ home, command }]
    }),
  )
  const roots = owners.map((owner) => read(model.name, owner, scheme.names))
  const records = await reader.read([...roots, ...asked.flat().map(({ command }) => command)])
  owners.forEach((owner, i) => scheme.learn(owner, records[i]?.bins))
  const isOther = owners.map((owner, i) => scheme.shardsOf(owner) !== shards[i])
  let at = owners.length
  const answers = asked.map((homes) => homes.map(({ home }) => ({ home, record: records[at++] })))
  const again = owners.filter((_, i) => isOther[i])
  if (again.length === 0) return answers
  const others = await askCompanions(model, scheme, again, reader, question)
  return answers.map((each, i) => (isOther[i] ? others[again.indexOf(owners[i])] : each))
}
