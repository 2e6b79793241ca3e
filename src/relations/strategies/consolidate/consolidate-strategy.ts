import { readProperty, type PartCodec } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import type { EntityModel, RelationModel } from '../../../model/index.js'
import { orderedLayout, type BinLayout } from '../../../plan/bin-layout.js'
import { read, whileThere, write, type Existence, type WriteCommand } from '../../../plan/command.js'
import type { StageName } from '../../../plan/draft.js'
import type { PlanDraft } from '../../../plan/plan-draft.js'
import type { WriteOperation } from '../../../plan/operation.js'
import { userKeyId } from '../../../plan/record-key.js'
import type { Value } from '../../../plan/value.js'
import type { CollectionState } from '../../state/collection-state.js'
import type { Tracked } from '../../contract/tracked.js'
import type { Reader } from '../../contract/reader.js'
import type { Deleted, OnRollback, Cascade } from '../../contract/contributor.js'
import { isCreation, isEntity, isNew } from '../../contract/member.js'
import { collectionStateOf, findRefState } from '../../state/state-of.js'
import type { CollectionView } from '../../contract/collection-members.js'
import type { ChangedPart, LoadedLevel, RelationStrategy } from '../../contract/relation-strategy.js'
import { InverseChanges, type StoredRefs } from './inverse-changes.js'
import { PartChanges } from './part-changes.js'
import { PartClass } from './part-class.js'
import { PartReads } from './part-reads.js'
import { loadPartRefs } from './part-refs.js'
import { PartTable } from './part-table.js'
import { PartVerification } from './part-verification.js'
import { PartView } from './part-view.js'

/** Entries that the moves of one write may pass over: each move copies the whole map on the server. */
const MOVE_WORK = 100_000
const LEAST_MOVES = 8

/**
 * The children inside the record of their parent: a map in key order from child key to child. What changes goes into the record's own
 * write: whole children that are new, single fields of those that were there, and the keys of those that go.
 */
export class ConsolidateStrategy implements RelationStrategy {
  readonly relation: string
  readonly model: RelationModel
  readonly bins: readonly string[]
  readonly quietBins: readonly string[]
  readonly layouts: readonly BinLayout[]
  readonly isInRecord: boolean
  readonly keyOf: (part: object) => KeyValue | null
  readonly parts: NonNullable<RelationStrategy['parts']>
  readonly inside: PartVerification
  readonly #owner: EntityModel
  readonly #parts: PartClass

  constructor(model: RelationModel, owner: EntityModel, codec: PartCodec) {
    this.relation = model.name
    this.model = model
    this.bins = [model.bin!]
    this.quietBins = [
      ...(model.sortKeyBin === undefined ? [] : [model.sortKeyBin]),
      ...(model.inverseIndexes ?? []).map(({ bin }) => bin),
      ...(model.orders ?? []).map(({ bin }) => bin),
    ]
    this.#owner = owner
    this.#parts = new PartClass(model, owner, codec)
    this.keyOf = this.#parts.keyOf
    this.layouts = [
      ...this.#parts.maps.map(({ bin }) => orderedLayout(bin, 'map')),
      ...this.#parts.orders.map(({ bin }) => orderedLayout(bin, 'list')),
    ]
    this.inside = new PartVerification(this.#parts)
    this.parts = {
      class: codec.model.class,
      changed: ({ entity }) => this.#changed(this.#table(entity)),
      locate: ({ entity }, id) => this.#table(entity).locate(id),
    }
    this.isInRecord = !codec.model.relations.some(({ eager }) => eager)
  }

  check(owner: Tracked, stored: Value | undefined): void {
    for (const value of this.#parts.valuesIn(stored, owner)) this.#parts.decode(value, owner)
  }

  /** Called when the collection has been bound to the session, with what was read of its bin. */
  attached(tracked: Tracked, reader: Reader, stored: Value | undefined, isRead: boolean): void {
    const state = this.#state(tracked.entity)
    if (state.parts?.owner !== tracked) state.holdParts(new PartTable(state, this.#parts, tracked, reader))
    if (isRead) this.#table(tracked.entity).load(stored)
  }

  completed({ entity }: Tracked, stored: Value | undefined): void {
    const table = this.#table(entity)
    if (!table.isLoaded) table.loadMore(stored)
  }

  view(tracked: Tracked, reader: Reader): CollectionView {
    const isDone = this.isInRecord || tracked.state === 'gone'
    const complete = isDone ? undefined : (parts: readonly object[]) => this.#loadEager(parts, reader)
    return new PartView(this.#table(tracked.entity), new PartReads(this.#parts, tracked, reader), complete)
  }

  hasChanges({ entity }: Tracked): boolean {
    return this.#table(entity).isChanged
  }

  /** New entities that parts point to are saved along. */
  cascade({ entity, state }: Tracked, reach: Cascade, reader: Reader): void {
    if (state === 'removed') return
    const table = this.#table(entity)
    for (const target of this.#newTargets(table, reader)) reach.save(target)
    // A child that goes to another record is stored there before it is taken out here.
    for (const { to } of table.moving()) reach.save(to.owner.entity)
  }

  save(tracked: Tracked, draft: PlanDraft, reader: Reader): void | Promise<void> {
    const table = this.#table(tracked.entity)
    // A record must be there before anything points to it.
    const stage = !draft.isTransaction && this.#newTargets(table, reader).length > 0 ? 'add references' : 'write'
    if (isCreation(tracked)) return this.#planWhole(tracked, table, draft, stage)
    const unknown = this.#unknownRefs(table)
    if (unknown.length === 0) return this.#planChanges(tracked, table, new Map(), draft, stage)
    return this.#readRefs(tracked, unknown, reader).then((refs) =>
      this.#planChanges(tracked, table, refs, draft, stage),
    )
  }

  /** Parts that are not stored yet are not found by an index; the others point no longer to what was never stored. */
  takeBack({ entity }: Tracked, deleted: Deleted, onTakeBack: OnRollback, isPreview: boolean): void {
    const table = this.#table(entity)
    for (const { name, target } of this.#parts.codec.model.relations) {
      const gone = deleted(target)
      if (gone.size === 0) continue
      const goAlong = this.model.inverseIndexes?.some(
        ({ ref, onTargetDelete }) => ref === name && onTargetDelete === 'delete',
      )
      for (const { part } of this.#changed(table)) {
        const state = findRefState(readProperty(part, name) ?? {})
        const key = state?.key ?? null
        if (key === null || !gone.has(key)) continue
        if (goAlong) {
          onTakeBack(table.state.remember())
          table.exclude(part)
        } else if (isEntity(state!.target) && state!.binding?.reader.tracked(state!.target) === undefined) {
          onTakeBack(state!.tentatively(() => state!.set(null), isPreview))
        }
      }
    }
  }

  /** The parts go with the record. */
  remove(): void {}

  async load(level: readonly Tracked[], reader: Reader): Promise<readonly Tracked[]> {
    const tables = level.map(({ entity }) => this.#table(entity))
    const missing = tables.filter(({ isComplete }) => !isComplete)
    const records = await reader.read(missing.map(({ owner }) => read(this.#owner.name, owner.key, this.bins)))
    missing.forEach((table, i) => table.loadMore(records[i]?.bins[this.model.bin!]))
    return []
  }

  loadInside(level: readonly Tracked[], reader: Reader, paths: readonly string[]): Promise<readonly LoadedLevel[]> {
    const { relations } = this.#parts.codec.model
    if (relations.length === 0) return Promise.resolve([])
    const parts = level.flatMap(({ entity }) =>
      this.#table(entity)
        .placed()
        .map(({ part }) => part),
    )
    return loadPartRefs(parts, relations, paths, reader)
  }

  /** Of parts that were asked for one by one. */
  async #loadEager(parts: readonly object[], reader: Reader): Promise<void> {
    const loaded = await loadPartRefs(parts, this.#parts.codec.model.relations, [], reader)
    await reader.load(loaded.flatMap(({ next }) => next))
  }

  #state(entity: object): CollectionState {
    return collectionStateOf(readProperty(entity, this.relation) as object)
  }

  /** Nobody else gives the state its parts. */
  #table(entity: object): PartTable {
    return this.#state(entity).parts as PartTable
  }

  #planWhole(tracked: Tracked, table: PartTable, draft: PlanDraft, stage: StageName): void {
    const changes = new PartChanges(table, new InverseChanges(this.#parts, new Map())).gatherAll()
    if (stage === 'write') return this.#add(draft, this.#write(tracked, changes.creation(), 'mustNotExist'), changes)
    // The record comes first, with empty maps; the children follow when there is what they point to.
    const empty = this.#write(tracked, changes.emptyCreation(), 'mustNotExist')
    draft.add('write', empty, ({ state }) => (table.isLoaded ||= state === 'written'))
    this.#add(draft, this.#write(tracked, changes.operations(), 'mustExist'), changes, stage)
  }

  #write({ key }: Tracked, operations: readonly WriteOperation[], exists: Existence): WriteCommand {
    return write(this.#owner.name, key, operations, { exists, ttl: 'keep', watchSize: true })
  }

  #planChanges(tracked: Tracked, table: PartTable, refs: StoredRefs, draft: PlanDraft, stage: StageName): void {
    this.#planMoves(tracked, table, refs, draft)
    const changes = new PartChanges(table, new InverseChanges(this.#parts, refs))
    const mostMoves = Math.max(LEAST_MOVES, Math.floor(MOVE_WORK / table.knownCount))
    const left = changes.gather(mostMoves)
    if (left.length > 0 && draft.isInside) throw this.#parts.tooManyMoves(tracked, left.length + mostMoves, mostMoves)
    // As with lists of keys, an upsert leaves the children that are there: what was added is added.
    const isUpsert = tracked.overwrite === true
    if (changes.isEmpty && !isUpsert) return
    const operations = isUpsert ? [...changes.emptyCreation(), ...changes.operations()] : changes.operations()
    const command = write(this.#owner.name, tracked.key, operations, {
      exists: isUpsert ? 'upsert' : 'mustExist',
      ttl: 'keep',
      guards: [whileThere(this.#owner), ...changes.guards],
      watchSize: true,
    })
    const more: PartChanges[] = []
    for (let i = 0; i < left.length; i += mostMoves)
      more.push(
        new PartChanges(table, new InverseChanges(this.#parts, refs)).gatherChanged(left.slice(i, i + mostMoves)),
      )
    if (more.length > 0)
      draft.follow(stage, () => `${more.length} more writes of its children, which change their places`)
    this.#add(draft, command, changes, stage, () => this.#planMore(tracked, more, draft, stage))
  }

  /** The writes that are left, one after the other: a stage has one write for each record. */
  #planMore(tracked: Tracked, [next, ...more]: readonly PartChanges[], draft: PlanDraft, stage: StageName): void {
    if (next === undefined) return
    const options = { exists: 'mustExist', ttl: 'keep', guards: [whileThere(this.#owner), ...next.guards] } as const
    const command = write(this.#owner.name, tracked.key, next.operations(), options)
    this.#add(draft, command, next, stage, () => this.#planMore(tracked, more, draft, stage))
  }

  /** Takes out children that go to other records: in the same transaction, or once they are stored there. */
  #planMoves(tracked: Tracked, table: PartTable, refs: StoredRefs, draft: PlanDraft): void {
    const moving = [...table.moving()]
    if (moving.length === 0) return
    for (const { to } of moving) draft.tie(tracked.key, to.owner.key)
    const changes = new PartChanges(table, new InverseChanges(this.#parts, refs)).gatherRemoved(
      moving.map(({ id }) => id),
    )
    const options = { exists: 'mustExist', ttl: 'keep', guards: changes.guards } as const
    this.#add(draft, write(this.#owner.name, tracked.key, changes.operations(), options), changes, 'remove references')
  }

  #newTargets(table: PartTable, reader: Reader): readonly object[] {
    const refs = this.#parts.codec.model.relations
    if (refs.length === 0) return []
    const targets = this.#changed(table).flatMap(({ part }) =>
      refs.map(({ name }) => findRefState(readProperty(part, name) ?? {})?.target ?? null),
    )
    return targets.filter(isEntity).filter((target) => isNew(target, reader))
  }

  #changed(table: PartTable): ChangedPart[] {
    const parts = [...table.state.addedEntities, ...[...table.changed()].map(({ part }) => part)]
    return parts.map((part) => ({ key: this.keyOf(part), part }))
  }

  #add(
    draft: PlanDraft,
    command: WriteCommand,
    changes: PartChanges,
    stage: StageName = 'write',
    written?: () => void,
  ): void {
    draft.add(stage, command, ({ state }) => {
      if (state === 'written') {
        changes.confirm()
        written?.()
      } else if (state === 'inDoubt') changes.advanceAdded()
      return state === 'written'
    })
  }

  /** Parts that are removed or replaced unseen: what they point to has to be read, so that the index can forget it. */
  #unknownRefs(table: PartTable): readonly KeyValue[] {
    if (this.model.inverseIndexes === undefined) return []
    const { added, removed } = table.state
    // Somebody may have stored what was not there when all was loaded: to remove it is fine, to replace it unseen is a conflict.
    const isComplete = table.isComplete && table.owner.overwrite !== true
    const unseen = isComplete ? [...removed] : [...added, ...removed]
    const ids = unseen.map((member) => (isEntity(member) ? this.#parts.idOf(member) : member))
    return ids.filter((id) => table.known(id) === undefined)
  }

  async #readRefs(tracked: Tracked, ids: readonly KeyValue[], reader: Reader): Promise<StoredRefs> {
    const stored = await new PartReads(this.#parts, tracked, reader).get(ids)
    const parts = stored.map((value) => this.#parts.decode(value, tracked))
    return new Map(parts.map((part) => [userKeyId(this.#parts.idOf(part)), this.#parts.indexedRefs(part)]))
  }
}
