import type { EntityModel, RelationModel } from '../../model/index.js'
import { read, type WriteCommand } from '../../plan/command.js'
import type { WriteOperation } from '../../plan/operation.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { CollectionMembers } from '../contract/collection-members.js'
import type { MemberQuestion, MemberStore, StoredMember } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import { isCreation } from '../contract/is-new.js'
import { linked, linkWrite, unlinked } from './key-list-bin.js'
import { keysMembers } from './keys-members.js'
import { keysAmong, type LinkBin, type LinkEnd } from './link-bin.js'

/** Keeps members in a bin of their owner's own record. */
export class RecordStore implements MemberStore {
  readonly model: EntityModel
  readonly bin: string
  readonly bins: readonly string[]
  readonly members: CollectionMembers
  readonly #layout: LinkBin
  readonly #target: EntityModel

  constructor(model: EntityModel, relation: RelationModel, target: EntityModel, layout: LinkBin) {
    this.model = model
    this.bin = relation.bin!
    this.bins = [this.bin]
    this.members = keysMembers(model, target, relation, layout.reads)
    this.#layout = layout
    this.#target = target
  }

  homes(owner: RecordKey): readonly RecordKey[] {
    return [owner]
  }

  homeOf(owner: RecordKey): RecordKey {
    return owner
  }

  create(owner: Tracked, draft: Draft): void {
    const exists = isCreation(owner) ? 'mustNotExist' : 'upsert'
    const create = linkWrite(this.model, owner.key, [this.#layout.create(this.bin)], exists)
    draft.add('write', create, ({ state }) => state === 'written')
  }

  add({ owner, member, attributes }: StoredMember, draft: Draft, stage: StageName, settle: Settle): void {
    draft.add(stage, linked(this.#layout, this.#end(owner), member, attributes), settle)
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

  removal({ owner, member }: StoredMember): WriteCommand {
    return unlinked(this.#layout, this.#end(owner), [member])
  }

  trim(owner: RecordKey, members: readonly UserKey[]): readonly WriteCommand[] {
    return [unlinked(this.#layout, this.#end(owner), members)]
  }

  among(owner: RecordKey, members: readonly UserKey[]): readonly MemberQuestion[] {
    const command = read(this.model.name, owner, 'none', [this.#layout.among(this.bin, members)])
    return [{ command, found: (record) => keysAmong(record?.bins[this.bin]) }]
  }

  all(owner: RecordKey): readonly MemberQuestion[] {
    const found = (record: StoredRecord | null): readonly UserKey[] => {
      const stored = record?.bins[this.bin]
      return stored == null ? [] : this.#layout.keysIn(stored, this.#target)
    }
    return [{ command: read(this.model.name, owner, this.bins), found }]
  }

  async read(owners: readonly RecordKey[], reader: Reader): Promise<readonly (Value | undefined)[]> {
    const records = await reader.read(owners.map((owner) => read(this.model.name, owner, this.bins)))
    return records.map((record) => record?.bins[this.bin])
  }

  #end(key: RecordKey): LinkEnd {
    return { model: this.model, key, bin: this.bin }
  }
}
