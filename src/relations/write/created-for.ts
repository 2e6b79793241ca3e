import { RESERVED_BIN_PREFIX, type EntityModel, type RelationModel } from '../../model/index.js'
import type { Bins } from '../../plan/command.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import { removeBin, writeBin } from '../../plan/operations.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Tracked } from '../contract/tracked.js'
import { isCreation } from '../contract/member.js'
import { linkWrite } from './key-list-bin.js'

/**
 * Notes in a new member's record which owner it was created for. Stages create members first and link them later; a flush that is
 * given up in between leaves a member that nothing leads to, and `verify` finds it by this note.
 */
export class CreatedFor {
  readonly bin: string
  readonly #member: EntityModel

  private constructor(bin: string, member: EntityModel) {
    this.bin = bin
    this.#member = member
  }

  /** Undefined for a relation of the owner that lets its members go: they may be there alone. */
  static of(owner: EntityModel, relation: RelationModel, member: EntityModel): CreatedFor | undefined {
    return relation.onDelete === 'detach' ? undefined : new CreatedFor(createdForBin(owner, relation), member)
  }

  /** Adds the owner's key to the create of a member that is linked in a later stage. */
  note(member: Tracked | undefined, owner: RecordKey, draft: Draft): void {
    if (member === undefined || !isCreation(member) || draft.isTransaction) return
    remember(member.entity, this.bin)
    const command = linkWrite(this.#member, member.key, [writeBin(this.bin, owner.key)], 'mustNotExist')
    draft.add('write', command, ({ state }) => state === 'written')
  }

  /** True where the record of the member has a note, as far as this process knows. */
  isNoted({ entity }: Tracked): boolean {
    return notes.get(entity)?.has(this.bin) === true
  }

  /** Drops the note in the same write that links the member, or after it where the link is in another record. */
  linked(member: Tracked, stage: StageName, draft: Draft, settle: Settle = isWrittenOrMissing): void {
    if (!this.isNoted(member)) return
    draft.add(stage, linkWrite(this.#member, member.key, [removeBin(this.bin)]), (outcome) => {
      if (outcome.state === 'written') notes.get(member.entity)?.delete(this.bin)
      return settle(outcome)
    })
  }

  /** Drops the note of a member that its owner lets go, and that stays. */
  letGo(member: RecordKey, draft: Draft): void {
    if (draft.isTransaction) return
    draft.add('remove references', linkWrite(this.#member, member, [removeBin(this.bin)]), isWrittenOrMissing)
  }
}

/** Notes in the records of entities that no write has dropped yet, whichever side of the relation planned them. */
const notes = new WeakMap<object, Set<string>>()

function remember(entity: object, bin: string): void {
  const known = notes.get(entity)
  if (known === undefined) notes.set(entity, new Set([bin]))
  else known.add(bin)
}

/** Remembers the notes that an entity was loaded with, so that linking it drops them. */
export function rememberNotes(entity: object, stored: Bins, bins: readonly string[]): void {
  for (const bin of bins) if (stored[bin] != null) remember(entity, bin)
}

/** Names the relation by a hash: a bin name has at most 15 characters. */
export function createdForBin({ set }: EntityModel, { name }: RelationModel): string {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(`${set}.${name}`)) hash = Math.imul(hash ^ byte, 0x01000193)
  return `${RESERVED_BIN_PREFIX}for.${(hash >>> 8).toString(16).padStart(6, '0')}`
}
