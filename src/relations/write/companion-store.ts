import type { KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { read, type Bins, type ReadCommand, type WriteCommand } from '../../plan/command.js'
import type { WriteOperation } from '../../plan/operation.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { CollectionMembers } from '../contract/collection-members.js'
import type { MemberQuestion, MemberStore, StoredMember, Telling } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import { CompanionChanges } from './companion-changes.js'
import { CompanionCommands } from './companion-commands.js'
import { closeCompanions, createOwner } from './companion-lifecycle.js'
import type { Answer } from './ask-companions.js'
import { CompanionReads } from './companion-reads.js'
import { CompanionCounts } from './companion-counts.js'
import { CompanionScheme } from './companion-scheme.js'
import { CompanionsInTransaction } from './companions-in-transaction.js'
import { routing } from './explain-reads.js'
import { amongIn, linkWrite, type LinkBin } from './link-bin.js'

/** Keeps members in companion records of their owner: one, or several that members are spread over by the hash of their keys. */
export class CompanionStore implements MemberStore {
  readonly model: EntityModel
  readonly bin: string
  readonly ended: string | undefined
  readonly bins: readonly string[] = []
  readonly isApart = true
  readonly schemeBins: readonly string[]
  readonly #target: EntityModel
  readonly #layout: LinkBin
  readonly #scheme: CompanionScheme
  readonly #commands: CompanionCommands
  readonly #counts: CompanionCounts | undefined
  readonly #changes: CompanionChanges
  readonly #inside: CompanionsInTransaction
  readonly #reads: CompanionReads

  constructor(model: EntityModel, relation: RelationModel, target: EntityModel, layout: LinkBin) {
    this.model = model
    this.bin = relation.bin!
    this.ended = layout.ended?.name
    this.#target = target
    this.#layout = layout
    this.#scheme = new CompanionScheme(model, relation.name, relation.companions!)
    this.schemeBins = [this.#scheme.subkeys]
    this.#commands = new CompanionCommands(model, this.bin, relation.index, layout, this.#scheme)
    const counts = CompanionCounts.of(model, relation)
    this.#counts = counts
    this.#changes = new CompanionChanges(this.#commands, this.#scheme, relation.name, counts)
    this.#inside = new CompanionsInTransaction(
      this.#commands,
      this.#scheme,
      counts && { layout, bin: this.bin, counts },
    )
    this.#reads = new CompanionReads(model, relation, target, layout, this.#scheme)
  }

  get members(): CollectionMembers {
    return this.#reads
  }

  at(): this {
    return this
  }

  homes(owner: RecordKey): readonly RecordKey[] {
    return this.#scheme.homes(owner)
  }

  homeOf(owner: RecordKey, member: UserKey): RecordKey {
    return this.#scheme.homeOf(owner, member)
  }

  learn(owner: RecordKey, bins: Bins): void {
    this.#scheme.learn(owner, bins[this.#scheme.subkeys])
  }

  create(owner: Tracked, draft: Draft): void {
    createOwner(owner, this.#scheme, draft)
  }

  add(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader?: Reader): void | Promise<void> {
    this.#tie(at, draft)
    if (draft.isInside) return this.#inside.add(at, draft, stage, settle, reader!)
    this.#survey(at, 1, draft, stage)
    draft.follow(stage, routing({ model: this.model, key: at.owner }, this.homeOf(at.owner, at.member)))
    this.#changes.send(
      {
        at,
        stage,
        settle,
        command: (home, shards) => this.#commands.put(at, home, shards),
        create: (home, shards) => this.#commands.create(at, home, shards),
      },
      draft,
    )
  }

  remove(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader?: Reader): void | Promise<void> {
    const command = (home: RecordKey, shards: number): WriteCommand =>
      this.#commands.take(home, [at.member], shards, at.endedAt)
    this.#tie(at, draft)
    if (draft.isInside) return this.#inside.change(at, command, draft, stage, settle, reader!, -1)
    this.#survey(at, -1, draft, stage)
    this.#changes.send({ at, stage, settle, command }, draft)
  }

  change(
    at: StoredMember,
    operations: readonly WriteOperation[],
    draft: Draft,
    stage: StageName,
    settle: Settle,
    reader?: Reader,
  ): void | Promise<void> {
    const command = (home: RecordKey, shards: number): WriteCommand => this.#commands.change(home, operations, shards)
    if (draft.isInside) return this.#inside.change(at, command, draft, stage, settle, reader!)
    this.#changes.send({ at, stage, settle, command }, draft)
  }

  /** Changes of one owner are made together, as they would be in one record. */
  #tie({ owner, member }: StoredMember, draft: Draft): void {
    draft.tie(this.homeOf(owner, member), owner)
  }

  /** A transaction that is only being planned must hold the owner as well, where that counts its members. */
  #survey({ owner }: StoredMember, delta: number, draft: Draft, stage: StageName): void {
    if (draft.isTransaction) this.#counts?.add(owner, delta, draft, stage)
  }

  addition(at: StoredMember, isHomeThere: boolean): WriteCommand {
    const home = this.homeOf(at.owner, at.member)
    return this.#commands[isHomeThere ? 'put' : 'create'](at, home, this.#scheme.shardsOf(at.owner))
  }

  telling(owner: RecordKey): Telling {
    const shards = this.#scheme.shardsOf(owner)
    return {
      command: this.#commands.tell(owner, shards),
      agrees: (outcome) => {
        this.#scheme.learn(owner, this.#commands.told(outcome))
        return this.#scheme.shardsOf(owner) === shards
      },
    }
  }

  removal({ owner, member, endedAt }: StoredMember, from?: RecordKey): WriteCommand {
    // A misplaced member may be in a record that does not say of how many it is one.
    if (from !== undefined) return linkWrite(this.model, from, [this.#layout.take(this.bin, [member])])
    return this.#commands.take(this.homeOf(owner, member), [member], this.#scheme.shardsOf(owner), endedAt)
  }

  reopening(home: RecordKey): WriteCommand {
    return this.#commands.unmark(home)
  }

  close(
    owner: Tracked,
    draft: Draft,
    reader: Reader,
    closed?: (members: readonly UserKey[]) => void,
  ): void | Promise<void> {
    const companions = { commands: this.#commands, scheme: this.#scheme, bin: this.bin }
    const tell = closed && ((stored: Value) => closed(this.#layout.keysIn(stored, this.#target)))
    return closeCompanions(owner, companions, draft, reader, tell)
  }

  trim(owner: RecordKey, members: readonly UserKey[]): readonly WriteCommand[] {
    const shards = this.#scheme.shardsOf(owner)
    return this.#byHome(owner, members).map(({ home, here }) => this.#commands.take(home, here, shards))
  }

  among(owner: RecordKey, members: readonly UserKey[]): readonly MemberQuestion[] {
    return this.#byHome(owner, members).map(({ home, here }) =>
      amongIn(this.#layout, { model: this.model, key: home, bin: this.bin }, here),
    )
  }

  held(owner: RecordKey, members: readonly UserKey[], reader: Pick<Reader, 'read'>): Promise<readonly UserKey[]> {
    return this.#reads.held(owner, members, reader)
  }

  async attributesOf({ owner, member }: StoredMember, reader: Pick<Reader, 'read'>): Promise<Value | undefined> {
    const question = (home: RecordKey): ReadCommand | undefined =>
      recordId(home) === recordId(this.homeOf(owner, member))
        ? read(this.model.name, home, 'none', [this.#layout.attributesOf!(this.bin, member)])
        : undefined
    const [[answer]] = await this.#reads.ask([owner], reader, question)
    return answer.record?.bins[this.bin]
  }

  async *drained(owner: Tracked, reader: Reader, count: number): AsyncGenerator<readonly KeyValue[]> {
    for await (const keys of this.#reads.firsts(owner.key, reader, count)) yield this.#reads.keysOf(owner, keys, reader)
  }

  async *surveyed(owner: Tracked, reader: Reader, count: number): AsyncGenerator<readonly KeyValue[]> {
    for await (const keys of this.#reads.walk(owner.key, reader, count)) yield this.#reads.keysOf(owner, keys, reader)
  }

  /** Joins all members into one list or map, as if they were in one record. */
  async read(owners: readonly RecordKey[], reader: Reader): Promise<readonly (Value | undefined)[]> {
    const all = await this.#reads.ask(owners, reader, (home) => read(this.model.name, home, [this.bin]))
    return all.map((answers) => this.#layout.merge(storedIn(answers, this.bin)))
  }

  #byHome(
    owner: RecordKey,
    members: readonly UserKey[],
  ): readonly { readonly home: RecordKey; readonly here: readonly UserKey[] }[] {
    const homes = new Map<string, { readonly home: RecordKey; readonly here: UserKey[] }>()
    for (const member of members) {
      const home = this.homeOf(owner, member)
      const id = recordId(home)
      const known = homes.get(id)
      if (known === undefined) homes.set(id, { home, here: [member] })
      else known.here.push(member)
    }
    return [...homes.values()]
  }
}

const storedIn = (answers: readonly Answer[], bin: string): readonly Value[] =>
  answers.map(({ record }) => record?.bins[bin]).filter((stored) => stored !== undefined && stored !== null)
