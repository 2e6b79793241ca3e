import type { KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import type { Bins, WriteCommand } from '../../plan/command.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import type { WriteOperation } from '../../plan/operation.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { CollectionMembers } from '../contract/collection-members.js'
import type { MemberQuestion, MemberStore, StoredMember } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import type { HomeCommands } from './companion-commands.js'
import { closeCompanions } from './companion-lifecycle.js'
import type { MemberScheme } from './companion-scheme.js'
import { amongIn, type LinkBin } from './link-bin.js'
import type { MembersApart } from './members-apart.js'

/** Members of one owner that are in the same record. */
interface AtHome {
  readonly home: RecordKey
  readonly here: readonly UserKey[]
}

/** Keeps members in records beside their owner's; a subclass says which ones, and how members get there. */
export abstract class StoreApart implements MemberStore {
  readonly model: EntityModel
  readonly bin: string
  readonly bins: readonly string[] = []
  readonly isApart = true
  protected readonly target: EntityModel
  protected readonly layout: LinkBin
  protected abstract readonly scheme: MemberScheme
  protected abstract readonly commands: HomeCommands
  protected abstract readonly reads: MembersApart
  /** True where the owner's own record may hold members as well. */
  protected readonly mayBeInOwner: boolean = false

  constructor(model: EntityModel, relation: RelationModel, target: EntityModel, layout: LinkBin) {
    this.model = model
    this.bin = relation.bin!
    this.target = target
    this.layout = layout
  }

  abstract homeOf(owner: RecordKey, member: UserKey): RecordKey
  abstract create(owner: Tracked, draft: Draft): void
  abstract add(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader?: Reader): void | Promise<void>
  abstract remove(
    at: StoredMember,
    draft: Draft,
    stage: StageName,
    settle: Settle,
    reader?: Reader,
  ): void | Promise<void>
  abstract change(
    at: StoredMember,
    operations: readonly WriteOperation[],
    draft: Draft,
    stage: StageName,
    settle: Settle,
    reader?: Reader,
  ): void | Promise<void>
  abstract addition(at: StoredMember, isHomeThere: boolean): WriteCommand
  abstract removal(at: StoredMember, from?: RecordKey): WriteCommand
  abstract trim(owner: RecordKey, members: readonly UserKey[]): readonly WriteCommand[]

  get schemeBins(): readonly string[] {
    return this.scheme.names
  }

  get members(): CollectionMembers {
    return this.reads
  }

  at(): this {
    return this
  }

  homes(owner: RecordKey): readonly RecordKey[] {
    return this.scheme.homes(owner)
  }

  learn(owner: RecordKey, bins: Bins): void {
    this.scheme.learn(owner, bins)
  }

  reopening(home: RecordKey): WriteCommand {
    return this.commands.unmark(home)
  }

  close(
    owner: Tracked,
    draft: Draft,
    reader: Reader,
    closed?: (members: readonly UserKey[]) => void,
  ): void | Promise<void> {
    const { commands, scheme, bin, mayBeInOwner, reads } = this
    const there = (key: RecordKey, asking: Reader): Promise<readonly RecordKey[]> => reads.there(key, asking)
    const tell = closed && ((stored: Value) => closed(this.layout.keysIn(stored, this.target)))
    return closeCompanions(owner, { commands, scheme, bin, mayBeInOwner, there }, draft, reader, tell)
  }

  among(owner: RecordKey, members: readonly UserKey[]): readonly MemberQuestion[] {
    return this.byHome(owner, members).map(({ home, here }) =>
      amongIn(this.layout, { model: this.model, key: home, bin: this.bin }, here),
    )
  }

  held(owner: RecordKey, members: readonly UserKey[], reader: Pick<Reader, 'read'>): Promise<readonly UserKey[]> {
    return this.reads.held(owner, members, reader)
  }

  attributesOf({ owner, member }: StoredMember, reader: Pick<Reader, 'read'>): Promise<Value | undefined> {
    return this.reads.attributesOf(owner, member, reader)
  }

  async *drained(owner: Tracked, reader: Reader, count: number): AsyncGenerator<readonly KeyValue[]> {
    for await (const keys of this.reads.firsts(owner.key, reader, count)) yield this.reads.keysOf(owner, keys, reader)
  }

  async *surveyed(owner: Tracked, reader: Reader, count: number): AsyncGenerator<readonly KeyValue[]> {
    for await (const keys of this.reads.walk(owner.key, reader, count)) yield this.reads.keysOf(owner, keys, reader)
  }

  read(owners: readonly RecordKey[], reader: Reader): Promise<readonly (Value | undefined)[]> {
    return this.reads.stored(owners, reader)
  }

  /** Groups members by the record that each is in. */
  protected byHome(
    owner: RecordKey,
    members: readonly UserKey[],
    homeOf = (member: UserKey): RecordKey => this.homeOf(owner, member),
  ): readonly AtHome[] {
    const homes = new Map<string, { readonly home: RecordKey; readonly here: UserKey[] }>()
    for (const member of members) {
      const home = homeOf(member)
      const id = recordId(home)
      const known = homes.get(id)
      if (known === undefined) homes.set(id, { home, here: [member] })
      else known.here.push(member)
    }
    return [...homes.values()]
  }
}
