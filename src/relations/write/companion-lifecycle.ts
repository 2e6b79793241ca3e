import type { Draft } from '../../plan/draft.js'
import { writeBin, writeMissingBin } from '../../plan/operations.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import { isCreation } from '../contract/member.js'
import type { Telling } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import type { CompanionCommands, HomeCommands } from './companion-commands.js'
import type { CompanionScheme, MemberScheme } from './companion-scheme.js'
import { markDeleting, readingKeys } from './delete-marker.js'
import { linkWrite } from './link-bin.js'

/** Records that hold the members of one relation. */
export interface Companions {
  readonly commands: HomeCommands
  readonly scheme: MemberScheme
  /** The bin of a companion that holds its members. */
  readonly bin: string
  /** True where the owner's own record may hold members in the same bin. */
  readonly mayBeInOwner?: boolean
  /** Companions of an owner that are there, once its record was read. */
  there(owner: RecordKey, reader: Reader): Promise<readonly RecordKey[]>
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

/** Tells an owner how its members are stored, before companions are made for some of them. */
export function tellingOwner(
  owner: RecordKey,
  commands: CompanionCommands,
  scheme: CompanionScheme,
  made?: readonly RecordKey[],
): Telling {
  const shards = scheme.shardsOf(owner)
  return {
    command: commands.tell(owner, shards, made),
    agrees: (outcome) => {
      scheme.learn(owner, commands.told(outcome))
      return scheme.shardsOf(owner) === shards
    },
  }
}

/** Lets no more members in, because the owner is being deleted, and deletes its companions before it; `closed` is told what each held. */
export function closeCompanions(
  owner: Tracked,
  companions: Companions,
  draft: Draft,
  reader: Reader,
  closed?: (stored: Value) => void,
): void | Promise<void> {
  if (draft.isTransaction) return dropAll(owner, companions, draft, reader)
  const { commands, scheme, bin, mayBeInOwner } = companions
  const mark = commands.asking(markDeleting(owner))
  const inOwner = mayBeInOwner === true ? closed : undefined
  draft.add('mark', inOwner === undefined ? mark : readingKeys(mark, bin), (outcome) => {
    if (outcome.state === 'written') {
      scheme.learn(owner.key, commands.told(outcome))
      inOwner?.(outcome.bins[bin] ?? [])
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
  for (const home of beside(key, scheme)) {
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

async function dropAll({ key }: Tracked, companions: Companions, draft: Draft, reader: Reader): Promise<void> {
  for (const home of await companions.there(key, reader))
    draft.add('delete', companions.commands.drop(home), isWrittenOrMissing)
}

/** Records that may hold members of the owner, without its own. */
export function beside(owner: RecordKey, scheme: MemberScheme): readonly RecordKey[] {
  const id = recordId(owner)
  return scheme.homes(owner).filter((home) => recordId(home) !== id)
}
