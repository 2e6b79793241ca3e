import { EntityGoneError, VersionConflictError, type SkeinError } from '../../../errors/index.js'
import { describeKey } from '../../../keys/index.js'
import { read } from '../../../plan/command.js'
import type { Draft, Settle, StageName } from '../../../plan/draft.js'
import type { Outcome } from '../../../plan/outcome.js'
import { recordId, userKeyId } from '../../../plan/record-key.js'
import type { MapKey } from '../../../plan/value.js'
import type { Reader } from '../../contract/reader.js'
import { routing } from '../../write/explain-reads.js'
import { held } from '../../write/link-bin.js'
import { InverseChanges, type StoredRefs } from '../consolidate/inverse-changes.js'
import { mostMovesIn } from '../consolidate/most-moves.js'
import { PartChanges } from '../consolidate/part-changes.js'
import type { PartItems } from '../consolidate/part-items.js'
import type { KnownPart, PartTable } from '../consolidate/part-table.js'
import { groupsOf, type PartGroup } from './part-groups.js'
import type { PartHomes } from './part-homes.js'

/** The collection of one owner that is written. */
export interface WrittenParts {
  readonly table: PartTable
  /** References of stored children that the session has not loaded. */
  readonly refs: StoredRefs
  /** Places of stored children that the session has not loaded, where those choose their companions. */
  readonly places: ReadonlyMap<string, MapKey>
  /** The same flush creates the owner's record. */
  readonly isOwnerNew: boolean
  /** The same flush writes the owner's record, whether it is there or not. */
  readonly isUpsert: boolean
  /** The same flush makes the owner's record where it is missing, through a handle. */
  readonly isOwnerMade: boolean
}

/** Sends changes of children to the companions that hold them: one command for each companion and stage. */
export class PartWrites {
  readonly #homes: PartHomes

  constructor(homes: PartHomes) {
    this.#homes = homes
  }

  send(parts: WrittenParts, items: PartItems, draft: Draft, stage: StageName, reader: Reader): void | Promise<void> {
    if (draft.isInside) return this.#sendInside(parts, items, draft, stage, reader)
    const { table } = parts
    for (const { home, put } of this.#groups(parts, items)) {
      draft.tie(home, table.owner.key)
      if (put.length > 0) draft.follow(stage, routing(table.owner, home))
    }
    this.#send(parts, items, draft, stage)
  }

  /** Also routes again what turned out to belong in other companions. */
  #send(parts: WrittenParts, items: PartItems, draft: Draft, stage: StageName, left?: number): void {
    for (const group of this.#groups(parts, items)) {
      const { changes, rest } = this.#gather(parts, group)
      const { owner } = parts.table
      this.#homes.changes.send(
        {
          at: { owner: owner.key, member: group.route, isOwnerNew: parts.isOwnerNew },
          stage,
          settle: this.#settle(parts, group, changes, () => this.#sendRest(parts, rest, draft, stage)),
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
    const groups = this.#groups(parts, items)
    const places = await Promise.all(
      groups.map(({ route }) => inside.find({ owner, member: route, isOwnerNew, isOwnerMade }, reader)),
    )
    // The owner says another number: all of it is routed again.
    if (scheme.shardsOf(owner) !== shards) return this.#sendInside(parts, items, draft, stage, reader)
    // Owners of buckets list each of them.
    const tellsEach = this.#homes.buckets !== undefined
    groups.forEach((group, i) => {
      const { changes, rest } = this.#gather(parts, group)
      if (rest.length > 0) throw table.parts.tooManyMoves(table.owner, group.changed.length, mostMoves(table, shards))
      const settle = this.#settle(parts, group, changes)
      const place = places[i]
      // Refused, and with it all that belongs together.
      if (place === undefined) return draft.add(stage, held(model, owner), settle)
      if (place.isThere) return draft.add(stage, this.#homes.change(place.home, shards, changes), settle)
      if (isChange(group)) throw this.#gone(table, group)
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

  #groups({ table, places }: WrittenParts, items: PartItems): readonly PartGroup[] {
    return groupsOf(table, items, this.#homes, (id) => table.known(id)?.place ?? places.get(userKeyId(id)) ?? id)
  }

  #gather(
    { table, refs }: WrittenParts,
    group: PartGroup,
  ): { readonly changes: PartChanges; readonly rest: readonly KnownPart[] } {
    const changes = new PartChanges(table, new InverseChanges(table.parts, refs))
    const rest = changes.gatherThese(group, mostMoves(table, this.#homes.scheme.shardsOf(table.owner.key)))
    return { changes, rest }
  }

  #settle({ table }: WrittenParts, group: PartGroup, changes: PartChanges, written?: () => void): Settle {
    return (outcome: Outcome) => {
      if (outcome.state === 'written') {
        changes.confirm()
        written?.()
        return true
      }
      if (outcome.state === 'inDoubt') changes.advanceAdded()
      if (outcome.reason !== 'missing' || recordId(outcome.command.key) === recordId(table.owner.key)) return false
      if (isChange(group)) return this.#gone(table, group)
      // Of what is not there nothing has to be taken out.
      if (group.put.length === 0) changes.confirm()
      return group.put.length === 0
    }
  }

  #gone({ owner, parts }: PartTable, { home, first, changed }: PartGroup): SkeinError {
    const { name } = owner.model
    const child = `${parts.codec.model.name} ${describeKey(first)}`
    const where = `in ${parts.relation.name} of ${name} ${describeKey(owner.key.key)}`
    const details = {
      className: name,
      property: parts.relation.name,
      namespace: home.namespace,
      set: home.set,
      key: owner.key.key,
    }
    // A handle changes what nobody has read: it may never have been there.
    if (changed.length === 0)
      return new EntityGoneError(`${child} is not ${where}.`, { ...details, fix: 'Nothing was written. Add it first.' })
    const fix = 'Nothing was written. Refresh the entity and repeat the change.'
    return new VersionConflictError(`${child} is no longer ${where}.`, { ...details, fix })
  }
}

const NOTHING: PartItems = Object.freeze({ removed: [], changed: [], recorded: [], put: [] })

const isChange = ({ changed, recorded }: PartGroup): boolean => changed.length + recorded.length > 0

const mostMoves = (table: PartTable, shards: number): number =>
  mostMovesIn(Math.ceil(table.knownCount / Math.max(1, Math.abs(shards))))
