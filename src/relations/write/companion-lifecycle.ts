import { read } from '../../plan/command.js'
import type { Draft } from '../../plan/draft.js'
import { writeBin, writeMissingBin } from '../../plan/operations.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import { isCreation } from '../contract/member.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import { askCompanions, type Answer, type CompanionQuestion } from './ask-companions.js'
import type { CompanionCommands } from './companion-commands.js'
import type { CompanionScheme } from './companion-scheme.js'
import { markDeleting, readingKeys } from './delete-marker.js'
import { linkWrite } from './link-bin.js'

/** The companions of one relation. */
export interface Companions {
  readonly commands: CompanionCommands
  readonly scheme: CompanionScheme
  /** The bin of a companion that holds its members. */
  readonly bin: string
  /** Asks companions that the owner must name first. */
  readonly ask?: (
    owners: readonly RecordKey[],
    reader: Reader,
    question: CompanionQuestion,
  ) => Promise<readonly (readonly Answer[])[]>
}

/** Says in a new owner how its members are stored. One that is upserted may be there already, with members in as many companions as it says. */
export function createOwner(
  owner: Tracked,
  scheme: CompanionScheme,
  draft: Draft,
  created?: () => void,
  described = scheme.describe(scheme.shardsOf(owner.key)),
): void {
  const { subkeys } = scheme
  const command = isCreation(owner)
    ? linkWrite(owner.model, owner.key, [writeBin(subkeys, described)], 'mustNotExist')
    : linkWrite(owner.model, owner.key, [writeMissingBin(subkeys, described)], 'upsert')
  draft.add('write', command, ({ state }) => {
    if (state === 'written') created?.()
    return state === 'written'
  })
}

/** Lets no more members in, because the owner is being deleted, and deletes its companions before it; `closed` is told what each held. */
export function closeCompanions(
  owner: Tracked,
  companions: Companions,
  draft: Draft,
  reader: Reader,
  closed?: (stored: Value) => void,
): void | Promise<void> {
  const { commands, scheme } = companions
  if (draft.isTransaction) return dropAll(owner, companions, draft, reader)
  draft.add('mark', commands.asked(markDeleting(owner)), (outcome) => {
    if (outcome.state === 'written') {
      scheme.learn(owner.key, commands.told(outcome))
      closeHomes(owner, companions, draft, closed)
    }
    return isWrittenOrMissing(outcome)
  })
}

/** The owner is marked, so no more companions come, and each that is there is marked and goes before it. */
function closeHomes(
  { key }: Tracked,
  { commands, scheme, bin }: Companions,
  draft: Draft,
  closed?: (stored: Value) => void,
): void {
  for (const home of scheme.homes(key)) {
    const mark = commands.mark(home)
    draft.add('mark', closed === undefined ? mark : readingKeys(mark, bin), (outcome) => {
      if (outcome.state === 'written') {
        closed?.(outcome.bins[bin] ?? [])
        draft.add('delete', commands.drop(home), isWrittenOrMissing)
      }
      return isWrittenOrMissing(outcome)
    })
  }
}

async function dropAll(
  { key, model }: Tracked,
  { commands, scheme, ask }: Companions,
  draft: Draft,
  reader: Reader,
): Promise<void> {
  const question: CompanionQuestion = (home) => read(model.name, home, 'none')
  const [answers] = await (ask?.([key], reader, question) ?? askCompanions(model, scheme, [key], reader, question))
  for (const { home, record } of answers)
    if (record !== null) draft.add('delete', commands.drop(home), isWrittenOrMissing)
}
