import type { EntityModel, RelationModel } from '../../model/index.js'
import type { WriteCommand } from '../../plan/command.js'
import type { WriteOperation } from '../../plan/operation.js'
import type { Draft, Settle, StageName } from '../../plan/draft.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { StoredMember, Telling } from '../contract/member-store.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import { CompanionChanges } from './companion-changes.js'
import { CompanionCommands } from './companion-commands.js'
import { createOwner, tellingOwner } from './companion-lifecycle.js'
import { CompanionReads } from './companion-reads.js'
import { CompanionCounts } from './companion-counts.js'
import { CompanionScheme } from './companion-scheme.js'
import { CompanionsInTransaction } from './companions-in-transaction.js'
import { rerouted, routing } from './explain-reads.js'
import { linkWrite, type LinkBin } from './link-bin.js'
import { StoreApart } from './store-apart.js'

/** Keeps members in companion records of their owner: one, or several that members are spread over by the hash of their keys. */
export class CompanionStore extends StoreApart {
  readonly ended: string | undefined
  protected readonly scheme: CompanionScheme
  protected readonly commands: CompanionCommands
  protected readonly reads: CompanionReads
  readonly #counts: CompanionCounts | undefined
  readonly #changes: CompanionChanges
  readonly #inside: CompanionsInTransaction

  constructor(model: EntityModel, relation: RelationModel, target: EntityModel, layout: LinkBin) {
    super(model, relation, target, layout)
    this.ended = layout.ended?.name
    this.scheme = new CompanionScheme(model, relation.name, relation.companions!)
    this.commands = new CompanionCommands(model, this.bin, relation.index, layout, this.scheme)
    const counts = CompanionCounts.of(model, relation)
    this.#counts = counts
    this.#changes = new CompanionChanges(this.commands, this.scheme, relation.name, counts)
    this.#inside = new CompanionsInTransaction(this.commands, this.scheme, counts && { layout, bin: this.bin, counts })
    this.reads = new CompanionReads(model, relation, target, layout, this.scheme)
  }

  homeOf(owner: RecordKey, member: UserKey): RecordKey {
    return this.scheme.homeOf(owner, member)
  }

  create(owner: Tracked, draft: Draft): void {
    createOwner(owner, this.scheme, draft)
  }

  add(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader?: Reader): void | Promise<void> {
    this.#tie(at, draft)
    if (draft.isInside) return this.#inside.add(at, draft, stage, settle, reader!)
    this.#counts?.plan(at.owner, 1, draft, stage)
    draft.follow(stage, routing({ model: this.model, key: at.owner }, this.homeOf(at.owner, at.member)))
    this.#changes.send(
      {
        at,
        stage,
        settle,
        command: (home, shards) => this.commands.put(at, home, shards),
        create: (home, shards) => this.commands.create(at, home, shards),
      },
      draft,
    )
  }

  remove(at: StoredMember, draft: Draft, stage: StageName, settle: Settle, reader?: Reader): void | Promise<void> {
    const command = (home: RecordKey, shards: number): WriteCommand =>
      this.commands.take(home, [at.member], shards, at.endedAt)
    this.#tie(at, draft)
    if (draft.isInside) return this.#inside.change(at, command, draft, stage, settle, reader!, -1)
    this.#counts?.plan(at.owner, -1, draft, stage)
    draft.follow(stage, rerouted({ model: this.model, key: at.owner }))
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
    const command = (home: RecordKey, shards: number): WriteCommand => this.commands.change(home, operations, shards)
    if (draft.isInside) return this.#inside.change(at, command, draft, stage, settle, reader!)
    draft.follow(stage, rerouted({ model: this.model, key: at.owner }))
    this.#changes.send({ at, stage, settle, command }, draft)
  }

  /** Changes of one owner are made together, as they would be in one record. */
  #tie({ owner, member }: StoredMember, draft: Draft): void {
    draft.tie(this.homeOf(owner, member), owner)
  }

  addition(at: StoredMember, isHomeThere: boolean): WriteCommand {
    const home = this.homeOf(at.owner, at.member)
    return this.commands[isHomeThere ? 'put' : 'create'](at, home, this.scheme.shardsOf(at.owner))
  }

  telling(owner: RecordKey): Telling {
    return tellingOwner(owner, this.commands, this.scheme)
  }

  removal({ owner, member, endedAt }: StoredMember, from?: RecordKey): WriteCommand {
    // A misplaced member may be in a record that does not say of how many it is one.
    if (from !== undefined) return linkWrite(this.model, from, [this.layout.take(this.bin, [member])])
    return this.commands.take(this.homeOf(owner, member), [member], this.scheme.shardsOf(owner), endedAt)
  }

  trim(owner: RecordKey, members: readonly UserKey[]): readonly WriteCommand[] {
    const shards = this.scheme.shardsOf(owner)
    return this.byHome(owner, members).map(({ home, here }) => this.commands.take(home, here, shards))
  }
}
