import { read } from '../../../plan/command.js'
import type { Draft, StageName } from '../../../plan/draft.js'
import { recordId } from '../../../plan/record-key.js'
import type { Reader } from '../../contract/reader.js'
import { routing } from '../../write/explain-reads.js'
import { held } from '../../write/link-bin.js'
import type { PartItems } from '../consolidate/part-items.js'
import type { KnownPart } from '../consolidate/part-table.js'
import type { PartHomes } from './part-homes.js'
import { isChange, mostMoves, NOTHING, PartSender, type WrittenParts } from './part-sender.js'

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
    for (const { home, put } of this.groups(parts, items)) {
      draft.tie(home, table.owner.key)
      if (put.length > 0) draft.follow(stage, routing(table.owner, home))
    }
    this.#send(parts, items, draft, stage)
  }

  /** Also routes again what turned out to belong in other companions. */
  #send(parts: WrittenParts, items: PartItems, draft: Draft, stage: StageName, left?: number): void {
    for (const group of this.groups(parts, items)) {
      const { changes, rest } = this.gather(parts, group, this.#homes.scheme.shardsOf(parts.table.owner.key))
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
    const { scheme, inside, model, commands } = this.#homes
    if (parts.isUpsert) {
      const [root] = await reader.read([read(model.name, owner, [scheme.subkeys])])
      scheme.learn(owner, root?.bins[scheme.subkeys])
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
    // Owners of buckets list each of them.
    const tellsEach = this.#homes.buckets !== undefined
    groups.forEach((group, i) => {
      const { changes, rest } = this.gather(parts, group, this.#homes.scheme.shardsOf(parts.table.owner.key))
      if (rest.length > 0) throw table.parts.tooManyMoves(table.owner, group.changed.length, mostMoves(table, shards))
      const settle = this.settle(parts, group, changes)
      const place = places[i]
      // Refused, and with it all that belongs together.
      if (place === undefined) return draft.add(stage, held(model, owner), settle)
      if (place.isThere) return draft.add(stage, this.#homes.change(place.home, shards, changes), settle)
      if (isChange(group)) throw this.gone(table, group)
      if (group.put.length === 0) return draft.beforeSending(() => changes.confirm())
      const isTold =
        isOwnerNew || !draft.once(`tell ${recordId(owner)} ${scheme.subkeys} ${tellsEach ? recordId(place.home) : ''}`)
      if (!isTold || (tellsEach && parts.isUpsert))
        draft.add(
          'write',
          commands.telling({ owner, member: group.route, isOwnerMade }, shards, [place.home]),
          ({ state }) => state === 'written',
        )
      draft.add(stage, this.#homes.create(owner, place.home, shards, group.route, changes), settle)
    })
  }
}
