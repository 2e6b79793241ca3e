import type { KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { read, type WriteCommand } from '../../plan/command.js'
import type { WriteOperation } from '../../plan/operation.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { CollectionMembers } from '../contract/collection-members.js'
import { allMembers, firstMembers } from '../contract/drain.js'
import type { MemberQuestion, MemberStore, StoredMember } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import { readKeysBin } from '../contract/stored-keys.js'
import type { Tracked } from '../contract/tracked.js'
import { isCreation } from '../contract/member.js'
import { markDeleting, readingKeys, takeMarkOff } from './delete-marker.js'
import { linked, linkWrite, unlinked } from './key-list-bin.js'
import { keysMembers } from './keys-members.js'
import { amongIn, type LinkBin, type LinkEnd } from './link-bin.js'

/** Keeps members in a bin of their owner's own record. */
export class RecordStore implements MemberStore {
  readonly model: EntityModel
  readonly bin: string
  readonly bins: readonly string[]
  readonly members: CollectionMembers
  readonly isApart = false
  readonly schemeBins: readonly string[] = []
  readonly #layout: LinkBin
  readonly #target: EntityModel
  readonly #property: string

  constructor(model: EntityModel, relation: RelationModel, target: EntityModel, layout: LinkBin) {
    this.model = model
    this.bin = relation.bin!
    this.bins = [this.bin]
    this.members = keysMembers(model, target, relation, layout.reads)
    this.#layout = layout
    this.#target = target
    this.#property = relation.name
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
    draft.add(stage, this.removal(at), settle)
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

  addition({ owner, member, attributes }: StoredMember): WriteCommand {
    return linked(this.#layout, this.#end(owner), member, attributes)
  }

  reopening(home: RecordKey): WriteCommand {
    return takeMarkOff(this.model.name, home)
  }

  removal({ owner, member }: StoredMember): WriteCommand {
    return unlinked(this.#layout, this.#end(owner), [member])
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
