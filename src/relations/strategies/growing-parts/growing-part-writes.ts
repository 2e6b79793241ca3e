import type { Draft, Settle, StageName } from '../../../plan/draft.js'
import type { Outcome } from '../../../plan/outcome.js'
import { recordId, type RecordKey } from '../../../plan/record-key.js'
import type { KeyValue } from '../../../keys/index.js'
import type { Reader } from '../../contract/reader.js'
import type { Change, Route } from '../../growth/growing-changes.js'
import { ROOT, samePlacement } from '../../growth/placement.js'
import { rerouted } from '../../write/explain-reads.js'
import { held, kept } from '../../write/link-bin.js'
import { growthOf } from '../companion-parts/part-counts.js'
import type { PartGroup } from '../companion-parts/part-groups.js'
import { isChange, NOTHING, PartSender, type WrittenParts } from '../companion-parts/part-sender.js'
import type { PartChanges } from '../consolidate/part-changes.js'
import type { PartItems } from '../consolidate/part-items.js'
import type { KnownPart, PartTable } from '../consolidate/part-table.js'
import type { GrowingPartHomes } from './growing-part-homes.js'

/** Times that a transaction looks where children are which others move meanwhile. */
const TRIES = 8

/** Sends changes of children to the record that holds them: their owner's, or companions. */
export class GrowingPartWrites extends PartSender {
  readonly #homes: GrowingPartHomes

  constructor(homes: GrowingPartHomes) {
    super(homes)
    this.#homes = homes
  }

  send(parts: WrittenParts, items: PartItems, draft: Draft, stage: StageName, reader: Reader): void | Promise<void> {
    if (draft.isInside) return this.#sendInside(parts, items, draft, stage, reader)
    const { owner } = parts.table
    const isInOwner = this.#homes.placement(owner.key).shards === ROOT
    for (const { home } of this.groups(parts, items)) {
      draft.tie(home, owner.key)
      draft.follow(stage, rerouted(owner, isInOwner))
    }
    // The owner's own record counts by itself what changes in it.
    if (!isInOwner && items.put.length + items.removed.length > 0)
      this.#homes.growth.counts?.plan(owner.key, 1, draft, stage)
    this.#send(parts, items, draft, stage)
  }

  /** Routes again also what turned out to belong in other records. */
  #send(parts: WrittenParts, items: PartItems, draft: Draft, stage: StageName, left?: number, route?: Route): void {
    for (const group of this.groups(parts, items)) {
      const { changes, rest } = this.gather(parts, group)
      const written = (): void => this.#sendRest(parts, rest, draft, stage)
      const change = {
        ...this.#change(parts, group, changes, stage, this.settle(parts, group, changes, written)),
        conditions: changes.conditions,
        reroute: (again: number, on: Route): void => this.#send(parts, group, draft, stage, again, on),
      }
      this.#homes.growth.changes.send(change, draft, left, route)
    }
  }

  /** Children that change their places beyond what one write may move. */
  #sendRest(parts: WrittenParts, rest: readonly KnownPart[], draft: Draft, stage: StageName): void {
    if (rest.length > 0) this.#send(parts, { ...NOTHING, changed: rest }, draft, stage)
  }

  #change(parts: WrittenParts, group: PartGroup, changes: PartChanges, stage: StageName, settle: Settle): Change {
    const { table, isOwnerNew, isUpsert, isOwnerMade } = parts
    const owner = table.owner.key
    const at = { owner, member: group.first, isOwnerNew, isOwnerUpserted: isUpsert, isOwnerMade }
    return {
      kind: group.put.length > 0 ? 'add' : isChange(group) ? 'change' : 'remove',
      at,
      members: idsIn(parts, group),
      stage,
      settle,
      command: (home, placement, isInside) =>
        this.#homes.growth.commands.write(owner, home, placement, changes, group.removed, isInside, isOwnerNew),
      needsMember: isChange(group) || this.#needsStored(table),
    }
  }

  /** A child that is replaced or removed must be in its home before, where that counts it, or lists what it points to: nothing that is out of date may be counted or listed elsewhere. */
  #needsStored({ parts }: PartTable): boolean {
    return this.#homes.growth.counts !== undefined || parts.relation.inverseIndexes !== undefined
  }

  async #sendInside(
    parts: WrittenParts,
    items: PartItems,
    draft: Draft,
    stage: StageName,
    reader: Reader,
    left = TRIES,
  ): Promise<void> {
    const { table } = parts
    const { key: owner } = table.owner
    const { inside, growth, scheme } = this.#homes.growth
    const before = scheme.of(owner)
    const planned = this.groups(parts, items).map((group) => {
      const { changes, rest } = this.gather(parts, group)
      if (rest.length > 0) throw table.parts.tooManyMoves(table.owner, rest.length, changes.moveCount)
      return { group, changes, change: this.#change(parts, group, changes, stage, this.settle(parts, group, changes)) }
    })
    const places = await Promise.all(planned.map(({ change }) => inside.find(change, reader)))
    // The owner says otherwise: all of it is routed again.
    if (!samePlacement(before, scheme.of(owner)) && left > 0)
      return this.#sendInside(parts, items, draft, stage, reader, left - 1)
    await this.#count(parts, planned, places, draft, stage, reader)
    planned.forEach(({ group, changes, change }, i) => {
      const place = places[i]
      if (place === undefined) {
        // Its refusal refuses all that belongs together.
        if (change.kind === 'add') return draft.add(stage, held(this.#homes.model, owner), change.settle)
        if (change.kind === 'change') throw this.gone(table, group)
        // An owner that is not there may have gone to the archive, with these children.
        if (table.owner.model.archive !== undefined && !draft.isDeleting(owner))
          return draft.add(stage, kept(this.#homes.model, owner), change.settle)
        return draft.beforeSending(() => changes.confirm())
      }
      const known = place.isBehind === true ? scheme.of(owner) : place.placement
      const settle = (outcome: Outcome): ReturnType<Settle> => {
        if (outcome.state === 'written') growth.written(change.kind, owner, known, outcome, draft)
        return change.settle(outcome)
      }
      const remedy = inside.remedy(change, place, draft)
      draft.add(stage, change.command(place.home, place.placement, true), Object.assign(settle, { remedy }))
    })
  }

  /** Counts what changes in companions; the owner's own record counts by itself. */
  async #count(
    { table }: WrittenParts,
    planned: readonly { readonly group: PartGroup }[],
    places: readonly ({ readonly home: RecordKey } | undefined)[],
    draft: Draft,
    stage: StageName,
    reader: Reader,
  ): Promise<void> {
    const { counts } = this.#homes.growth
    if (counts === undefined) return
    const { key: owner } = table.owner
    const apart = places.map((place) =>
      place === undefined || recordId(place.home) === recordId(owner) ? undefined : { home: place.home, isThere: true },
    )
    const groups = planned.map(({ group }) => group)
    await counts.addInside(owner, await growthOf(table, groups, apart, reader), draft, stage, reader)
  }
}

function idsIn({ table }: WrittenParts, { removed, changed, recorded, put }: PartGroup): readonly KeyValue[] {
  return [
    ...removed,
    ...changed.map(({ id }) => id),
    ...recorded.map(({ id }) => id),
    ...put.map((part) => table.parts.idOf(part)),
  ]
}
