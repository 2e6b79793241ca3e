import type { KeyValue } from '../../keys/index.js'
import { RESERVED_BIN_PREFIX, shortHash, type EntityModel, type RelationModel } from '../../model/index.js'
import { read, type Bins, type WriteCommand } from '../../plan/command.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import type { WriteOperation } from '../../plan/operation.js'
import { removeBin, writeBin } from '../../plan/operations.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { CollectionMembers } from '../contract/collection-members.js'
import { allMembers, firstMembers } from '../contract/drain.js'
import type { MemberQuestion, MemberStore, StoredMember } from '../contract/member-store.js'
import { isCreation, modelAt } from '../contract/member.js'
import type { Reader } from '../contract/reader.js'
import { readKeysBin } from '../contract/stored-keys.js'
import type { Tracked } from '../contract/tracked.js'
import { markDeleting, readingKeys, takeMarkOff } from './delete-marker.js'
import { keysMembers } from './keys-members.js'
import { amongIn, linked, linkWrite, refuseArchived, unlinked, type LinkBin, type LinkEnd } from './link-bin.js'

/** Keeps members in a bin of their owner's own record. */
export class RecordStore implements MemberStore {
  readonly model: EntityModel
  readonly bin: string
  readonly ended: string | undefined
  readonly bins: readonly string[]
  readonly members: CollectionMembers
  readonly isApart = false
  readonly schemeBins: readonly string[] = []
  readonly #layout: LinkBin
  readonly #target: EntityModel
  readonly #property: string
  /** A record that is missing may be in the archive, with the members that were to be taken out. */
  readonly #mayBeArchived: boolean

  constructor(model: EntityModel, relation: RelationModel, target: EntityModel, layout: LinkBin) {
    this.model = model
    this.bin = relation.bin!
    this.ended = layout.ended?.name
    this.bins = [this.bin]
    this.members = keysMembers(model, target, relation, layout.reads)
    this.#layout = layout
    this.#target = target
    this.#property = relation.name
    this.#mayBeArchived = model.archive !== undefined && relation.inverse === undefined
  }

  at(): this {
    return this
  }

  homes(owner: RecordKey): readonly RecordKey[] {
    return [owner]
  }

  homeOf(owner: RecordKey): RecordKey {
    return owner
  }

  learn(): void {}

  create(owner: Tracked, draft: Draft): void {
    const exists = isCreation(owner) ? 'mustNotExist' : 'upsert'
    const create = linkWrite(this.model, owner.key, [this.#layout.create(this.bin)], exists)
    draft.add('write', create, ({ state }) => state === 'written')
  }

  add(at: StoredMember, draft: Draft, stage: StageName, settle: Settle): void {
    draft.add(stage, this.addition(at), settle)
  }

  remove(at: StoredMember, draft: Draft, stage: StageName, settle: Settle): void {
    draft.add(stage, this.removal(at), (outcome) =>
      outcome.reason === 'missing' && this.#mayBeArchived ? refuseArchived(outcome, settle) : settle(outcome),
    )
  }

  change(
    { owner }: StoredMember,
    operations: readonly WriteOperation[],
    draft: Draft,
    stage: StageName,
    settle: Settle,
  ): void {
    draft.add(stage, linkWrite(this.model, owner, operations), settle)
  }

  addition({ owner, member, attributes, isOwnerNew, isRepair }: StoredMember): WriteCommand {
    return linked(this.#layout, this.#end(owner), member, attributes, isOwnerNew === true || isRepair === true)
  }

  reopening(home: RecordKey): WriteCommand {
    return takeMarkOff(this.model.name, home)
  }

  removal({ owner, member, endedAt }: StoredMember): WriteCommand {
    return unlinked(this.#layout, this.#end(owner), [member], endedAt)
  }

  close(owner: Tracked, draft: Draft, _: Reader, closed?: (members: readonly UserKey[]) => void): void {
    if (draft.isTransaction) return
    if (closed === undefined) return draft.add('mark', markDeleting(owner), isWrittenOrMissing)
    draft.add('mark', readingKeys(markDeleting(owner), this.bin), (outcome) => {
      if (outcome.state === 'written') closed(this.#layout.keysIn(outcome.bins[this.bin] ?? [], this.#target))
      return isWrittenOrMissing(outcome)
    })
  }

  trim(owner: RecordKey, members: readonly UserKey[]): readonly WriteCommand[] {
    return [unlinked(this.#layout, this.#end(owner), members)]
  }

  among(owner: RecordKey, members: readonly UserKey[]): readonly MemberQuestion[] {
    return [amongIn(this.#layout, this.#end(owner), members)]
  }

  async held(owner: RecordKey, members: readonly UserKey[], reader: Pick<Reader, 'read'>): Promise<readonly UserKey[]> {
    const [{ command, found }] = this.among(owner, members)
    const [record] = await reader.read([command])
    return found(record)
  }

  attributesOf({ owner, member }: StoredMember, reader: Pick<Reader, 'read'>): Promise<Value | undefined> {
    const command = read(this.model.name, owner, 'none', [this.#layout.attributesOf!(this.bin, member)])
    const place = { model: this.model, key: owner, property: this.#property }
    return readKeysBin(place, { bin: this.bin, holds: 'map' }, this.#target, command, reader)
  }

  drained(owner: Tracked, reader: Reader, count: number): AsyncIterable<readonly KeyValue[]> {
    return firstMembers(this.members, owner, reader, count)
  }

  surveyed(owner: Tracked, reader: Reader, count: number): AsyncIterable<readonly KeyValue[]> {
    return allMembers(this.members, owner, reader, count)
  }

  async read(owners: readonly RecordKey[], reader: Reader): Promise<readonly (Value | undefined)[]> {
    const records = await reader.read(owners.map((owner) => read(this.model.name, owner, this.bins)))
    return records.map((record) => record?.bins[this.bin])
  }

  #end(key: RecordKey): LinkEnd {
    return { model: this.model, key, bin: this.bin }
  }
}

/**
 * Notes in a new member's record which owner it was created for. Stages create members first and link them later; a flush that is
 * given up in between leaves a member that nothing leads to, and `verify` finds it by this note.
 */
export class CreatedFor {
  readonly bin: string
  readonly ownerSet: string
  readonly #member: EntityModel

  private constructor(owner: EntityModel, relation: RelationModel, member: EntityModel) {
    this.bin = createdForBin(owner, relation)
    this.ownerSet = owner.set
    this.#member = member
  }

  /** Undefined for a relation of the owner that detaches its members when it is deleted: they may be there alone. */
  static of(owner: EntityModel, relation: RelationModel, member: EntityModel): CreatedFor | undefined {
    return relation.onDelete === 'detach' ? undefined : new CreatedFor(owner, relation, member)
  }

  /** Makes the notes for each class that may own a member; all have the relation under one name. */
  static ofEach(owners: EntityModel, relation: RelationModel, member: EntityModel): readonly CreatedFor[] {
    return (owners.several ?? [owners]).flatMap((owner) => CreatedFor.of(owner, relation, member) ?? [])
  }

  /** Adds the owner's key to the create of a member that is linked in a later stage. */
  note(member: Tracked | undefined, owner: RecordKey, draft: Draft): void {
    if (member === undefined || !isCreation(member) || draft.isTransaction) return
    remember(member.entity, this.bin)
    const command = linkWrite(
      modelAt(this.#member, member.key),
      member.key,
      [writeBin(this.bin, owner.key)],
      'mustNotExist',
    )
    draft.add('write', command, ({ state }) => state === 'written')
  }

  /** True where the record of the member has a note, as far as this process knows. */
  isNoted({ entity }: Tracked): boolean {
    return notes.get(entity)?.has(this.bin) === true
  }

  /** Drops the note in the same write that links the member, or after it where the link is in another record. */
  linked(member: Tracked, stage: StageName, draft: Draft, settle: Settle = isWrittenOrMissing): void {
    if (!this.isNoted(member)) return
    const dropped = linkWrite(modelAt(this.#member, member.key), member.key, [removeBin(this.bin)])
    draft.add(stage, dropped, (outcome) => {
      if (outcome.state === 'written') notes.get(member.entity)?.delete(this.bin)
      return settle(outcome)
    })
  }

  /** Drops the note of a member that its owner detaches, and that stays. */
  unlinked(member: RecordKey, draft: Draft): void {
    if (draft.isTransaction) return
    const dropped = linkWrite(modelAt(this.#member, member), member, [removeBin(this.bin)])
    draft.add('remove references', dropped, isWrittenOrMissing)
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
  return `${RESERVED_BIN_PREFIX}for.${shortHash(`${set}.${name}`)}`
}
