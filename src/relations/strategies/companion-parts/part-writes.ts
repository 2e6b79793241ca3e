import { read } from '../../../plan/command.js'
import type { Draft, Settle, StageName } from '../../../plan/draft.js'
import type { Reader } from '../../contract/reader.js'
import type { CompanionPlace } from '../../write/companions-in-transaction.js'
import { rerouted, routing, routingToBucket } from '../../write/explain-reads.js'
import { held, kept } from '../../write/link-bin.js'
import type { PartItems } from '../consolidate/part-items.js'
import type { KnownPart } from '../consolidate/part-table.js'
import { growthOf } from './part-counts.js'
import type { PartGroup } from './part-groups.js'
import type { PartHomes } from './part-homes.js'
import { isChange, NOTHING, PartSender, type WrittenParts } from './part-sender.js'

/** Sends changes of children to the companions that hold them: one command for each companion and stage. */
export class PartWrites extends PartSender {
  readonly #homes: PartHomes

  constructor(homes: PartHomes) {
    super(homes)
    this.#homes = homes
  }

  send(parts: WrittenParts, items: PartItems, draft: Draft, stage: StageName, reader: Reader): void | Promise<void> {
    if (draft.isInside) return this.#sendInside(parts, items, draft, stage, reader)
    const { table } = parts
    const toHome = this.#homes.buckets === undefined ? routing : routingToBucket
    for (const { home, put } of this.groups(parts, items)) {
      draft.tie(home, table.owner.key)
      if (put.length > 0) draft.follow(stage, toHome(table.owner, home))
      else if (this.#homes.buckets === undefined) draft.follow(stage, rerouted(table.owner))
    }
    if (items.put.length + items.removed.length > 0) this.#homes.counts?.plan(table.owner.key, 1, draft, stage)
    this.#send(parts, items, draft, stage)
  }

  /** Routes again also what turned out to belong in other companions. */
  #send(parts: WrittenParts, items: PartItems, draft: Draft, stage: StageName, left?: number): void {
    for (const group of this.groups(parts, items)) {
      const { changes, rest } = this.gather(parts, group)
      const { owner } = parts.table
      this.#homes.changes.send(
        {
          at: { owner: owner.key, member: group.route, isOwnerNew: parts.isOwnerNew },
          stage,
          settle: this.settle(parts, group, changes, () => this.#sendRest(parts, rest, draft, stage)),
          command: (home, shards) => this.#homes.change(home, shards, changes),
          ...(group.put.length > 0 && {
            create: (home, shards) => this.#homes.create(owner.key, home, shards, group.route, changes),
          }),
          needsMember: isChange(group),
          hasConditions: changes.guards.length > 0,
          reroute: (again) => this.#send(parts, group, draft, stage, again),
        },
        draft,
        left,
      )
    }
  }

  /** Children that change their places beyond what one write may move. */
  #sendRest(parts: WrittenParts, rest: readonly KnownPart[], draft: Draft, stage: StageName): void {
    if (rest.length > 0) this.#send(parts, { ...NOTHING, changed: rest }, draft, stage)
  }

  async #sendInside(
    parts: WrittenParts,
    items: PartItems,
    draft: Draft,
    stage: StageName,
    reader: Reader,
  ): Promise<void> {
    const { table } = parts
    const { key: owner } = table.owner
    const { scheme, inside, model } = this.#homes
    if (parts.isUpsert) {
      const [root] = await reader.read([read(model.name, owner, scheme.names)])
      scheme.learn(owner, root?.bins)
    }
    const { isOwnerMade } = parts
    const isOwnerNew = parts.isOwnerNew || parts.isUpsert
    const shards = scheme.shardsOf(owner)
    const groups = this.groups(parts, items)
    const places = await Promise.all(
      groups.map(({ route }) => inside.find({ owner, member: route, isOwnerNew, isOwnerMade }, reader)),
    )
    // The owner says another number: all of it is routed again.
    if (scheme.shardsOf(owner) !== shards) return this.#sendInside(parts, items, draft, stage, reader)
    if (this.#homes.counts !== undefined)
      await this.#homes.counts.addInside(owner, await growthOf(table, groups, places, reader), draft, stage, reader)
    this.#tell(parts, groups, places, draft)
    groups.forEach((group, i) => {
      const { changes, rest } = this.gather(parts, group)
      if (rest.length > 0) throw table.parts.tooManyMoves(table.owner, rest.length, changes.moveCount)
      const settle = this.settle(parts, group, changes)
      const place = places[i]
      // Its refusal refuses all that belongs together.
      if (place === undefined) return draft.add(stage, held(model, owner), settle)
      if (place.isThere) return draft.add(stage, this.#homes.change(place.home, shards, changes), settle)
      if (isChange(group) && this.#homes.buckets === undefined) throw this.gone(table, group)
      if (isChange(group)) return this.#report(parts, group, settle, draft)
      if (group.put.length === 0) return draft.beforeSending(() => changes.confirm())
      draft.add(stage, this.#homes.create(owner, place.home, shards, group.route, changes), settle)
    })
  }

  /** Reports children whose bucket has expired by themselves, as outside of transactions: what else changes is written. */
  #report({ table }: WrittenParts, group: PartGroup, settle: Settle, draft: Draft): void {
    draft.add('write', kept(this.#homes.model, table.owner.key), (outcome) =>
      outcome.state === 'written' ? this.gone(table, group) : settle(outcome),
    )
  }

  /** Tells the owner how its children are stored, and of all companions that are made: owners of buckets list each of them. */
  #tell(
    { table, isOwnerNew, isUpsert, isOwnerMade }: WrittenParts,
    groups: readonly PartGroup[],
    places: readonly (CompanionPlace | undefined)[],
    draft: Draft,
  ): void {
    const { key: owner } = table.owner
    const { commands, scheme, buckets } = this.#homes
    const made = groups.flatMap(({ put }, i) => (put.length > 0 && places[i]?.isThere === false ? places[i].home : []))
    // An owner that the flush writes as a whole says it in that write; one that is upserted may list other buckets.
    if (made.length === 0 || isOwnerNew || (isUpsert && buckets === undefined)) return
    const command = commands.telling({ owner, member: groups[0].route, isOwnerMade }, scheme.shardsOf(owner), made)
    draft.add('write', command, ({ state }) => state === 'written')
  }
}
