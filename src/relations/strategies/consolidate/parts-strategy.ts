import { readProperty, type PartCodec } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import { refsOf, type EntityModel, type RelationModel } from '../../../model/index.js'
import type { BinLayout } from '../../../plan/bin-layout.js'
import type { PlanDraft } from '../../../plan/plan-draft.js'
import { userKeyId } from '../../../plan/record-key.js'
import type { Value } from '../../../plan/value.js'
import type { CollectionView } from '../../contract/collection-members.js'
import type { Cascade, Deleted, OnRollback } from '../../contract/contributor.js'
import { isEntity, isNew } from '../../contract/member.js'
import type { Reader } from '../../contract/reader.js'
import type { ChangedPart, LoadedLevel, LocatedPart, RelationStrategy } from '../../contract/relation-strategy.js'
import type { Tracked } from '../../contract/tracked.js'
import type { CollectionState } from '../../state/collection-state.js'
import { collectionStateOf, findRefState } from '../../state/state-of.js'
import type { StoredRefs } from './inverse-changes.js'
import { locatePart } from './locate-part.js'
import { PartClass } from './part-class.js'
import { leavingItems } from './part-items.js'
import type { PartQuestions } from './part-questions.js'
import { completeParts, hasEagerRefs, loadPartRefs } from './part-refs.js'
import { PartTable } from './part-table.js'
import { partsToCheck } from './parts-to-check.js'
import { partsIn } from './part-tree.js'
import { PartView } from './part-view.js'
import { takeAgain } from './take-again.js'
import { targetsOf, withdrawPointing } from './withdraw-pointing.js'

/** Children that are parts of their owner, whichever records hold them: what a session knows of them, and what they point to. */
export abstract class PartsStrategy implements RelationStrategy {
  readonly relation: string
  readonly model: RelationModel
  abstract readonly bins: readonly string[]
  abstract readonly layouts: readonly BinLayout[]
  abstract readonly isInRecord: boolean
  readonly keyOf: (part: object) => KeyValue | null
  readonly parts: NonNullable<RelationStrategy['parts']>
  protected readonly owner: EntityModel
  protected readonly partClass: PartClass
  /** Some of what parts point to is always loaded with them. */
  protected readonly hasEagerRefs: boolean
  /** Classes that parts point to. */
  readonly #targets: readonly string[]
  /** Pages follow cursors, because children are in several records. */
  protected readonly hasCursors: boolean = false
  /** Children are in the order of a date, and asked by it. */
  protected readonly hasWindows: boolean = false

  constructor(model: RelationModel, owner: EntityModel, codec: PartCodec) {
    this.relation = model.name
    this.model = model
    this.owner = owner
    this.partClass = new PartClass(model, owner, codec)
    this.hasEagerRefs = hasEagerRefs(codec)
    this.#targets = [...new Set(targetsOf(codec))]
    this.keyOf = this.partClass.keyOf
    this.parts = {
      class: codec.model.class,
      changed: ({ entity }) => partsToCheck(this.table(entity)),
      locate: (tracked, id) => this.locate(tracked, id),
    }
  }

  abstract save(tracked: Tracked, draft: PlanDraft, reader: Reader): void | Promise<void>
  dropPlan({ entity }: Tracked): void {
    this.table(entity).sent.drop()
  }

  abstract remove(tracked: Tracked, draft: PlanDraft, reader: Reader): void | Promise<void>
  abstract load(level: readonly Tracked[], reader: Reader): Promise<readonly Tracked[]>
  /** Finds a child by its id, also where it is not loaded. */
  protected locate(tracked: Tracked, id: unknown): LocatedPart {
    const table = this.table(tracked.entity)
    const located = locatePart(table, id)
    return { ...located, read: () => this.#makeEdits(tracked, table.reader, located.id) }
  }

  /** Reads this child and those in which changes wait for that, and makes them. */
  async #makeEdits(tracked: Tracked, reader: Reader, id?: KeyValue): Promise<void> {
    const table = this.table(tracked.entity)
    const { edited } = table.unsent
    const ids = id === undefined || edited.some((each) => userKeyId(each) === userKeyId(id)) ? edited : [...edited, id]
    for (const value of await this.questions(tracked, reader).get(ids)) table.take(value)
    const [missing] = table.unsent.edited
    if (missing !== undefined) throw this.partClass.childGone(tracked, missing)
  }

  /** Asks the server about the children of one owner. */
  protected abstract questions(tracked: Tracked, reader: Reader): PartQuestions

  /** Called when the collection has been bound to the session, with what was read of its bin. */
  attached(tracked: Tracked, reader: Reader, stored: Value | undefined, isRead: boolean): void {
    const state = this.#state(tracked.entity)
    if (state.parts?.owner !== tracked) state.holdParts(new PartTable(state, this.partClass, tracked, reader))
    if (isRead) this.table(tracked.entity).load(stored)
  }

  view(tracked: Tracked, reader: Reader): CollectionView {
    const isDone = !this.hasEagerRefs || tracked.state === 'gone'
    const { codec } = this.partClass
    const complete = isDone ? undefined : (parts: readonly object[]) => completeParts(parts, codec, reader)
    return new PartView(
      this.table(tracked.entity),
      this.questions(tracked, reader),
      complete,
      this.hasCursors,
      this.hasWindows,
    )
  }

  hasChanges({ entity }: Tracked): boolean {
    return this.table(entity).isChanged
  }

  /** New entities that parts point to are saved along. */
  cascade(tracked: Tracked, reach: Cascade, reader: Reader): void | Promise<void> {
    if (tracked.state === 'removed') return
    const table = this.table(tracked.entity)
    if (!table.unsent.isEdited) return this.#reach(table, reach, reader)
    return this.#makeEdits(tracked, reader).then(() => this.#reach(table, reach, reader))
  }

  #reach(table: PartTable, reach: Cascade, reader: Reader): void {
    for (const target of this.newTargets(table, reader)) reach.save(target)
    // A child that goes to another record is stored there before it is taken out here.
    for (const owner of leavingItems(table)?.to ?? []) reach.save(owner.entity)
  }

  /** Parts that are not stored yet are not found by an index; the others point no longer to what was never stored. */
  rollback({ entity }: Tracked, deleted: Deleted, onRollback: OnRollback, isPreview: boolean): void {
    if (this.#targets.every((target) => deleted(target).size === 0)) return
    const table = this.table(entity)
    const changed = this.changed(table).map(({ part }) => part)
    withdrawPointing(table, changed, deleted, onRollback, isPreview)
  }

  loadInside(level: readonly Tracked[], reader: Reader, paths: readonly string[]): Promise<readonly LoadedLevel[]> {
    const { codec } = this.partClass
    if (codec.model.relations.length === 0) return Promise.resolve([])
    const parts = level.flatMap(({ entity }) =>
      this.table(entity)
        .placed()
        .map(({ part }) => part),
    )
    return loadPartRefs(parts, codec, paths, reader)
  }

  #state(entity: object): CollectionState {
    return collectionStateOf(readProperty(entity, this.relation) as object)
  }

  /** Parts of the state, which only this strategy sets. */
  protected table(entity: object): PartTable {
    return this.#state(entity).parts as PartTable
  }

  protected newTargets(table: PartTable, reader: Reader): readonly object[] {
    const { codec } = this.partClass
    if (codec.model.relations.length === 0) return []
    const targets = this.changed(table).flatMap(({ part }) =>
      [...partsIn(part, codec)].flatMap((each) =>
        refsOf(each.codec.model).map(({ name }) => findRefState(readProperty(each.part, name) ?? {})?.target ?? null),
      ),
    )
    return targets.filter(isEntity).filter((target) => isNew(target, reader))
  }

  protected changed(table: PartTable): ChangedPart[] {
    const parts = [...table.state.addedEntities, ...[...table.changed()].map(({ part }) => part)]
    return parts.map((part) => ({ key: this.keyOf(part), part }))
  }

  /** Parts that are removed or replaced unseen: what they point to has to be read, so that the index can forget it. */
  protected unknownRefs(table: PartTable): readonly KeyValue[] {
    if (this.model.inverseIndexes === undefined) return []
    const { added, removed } = table.state
    // Another session may have stored what was not there when all was loaded: to remove it is fine, to replace it unseen is a conflict.
    const isComplete = table.isComplete && table.owner.overwrite !== true
    const unseen = isComplete ? [...removed] : [...added, ...removed]
    const ids = unseen.map((member) => (isEntity(member) ? this.partClass.idOf(member) : member))
    return ids.filter((id) => table.known(id) === undefined)
  }

  async readAgain(tracked: Tracked, ids: readonly KeyValue[], reader: Reader): Promise<void> {
    const stored = await this.questions(tracked, reader).get(ids)
    for (const part of stored) takeAgain(this.table(tracked.entity), part)
  }

  protected async readRefs(tracked: Tracked, ids: readonly KeyValue[], reader: Reader): Promise<StoredRefs> {
    const stored = await this.questions(tracked, reader).get(ids)
    const parts = stored.map((value) => this.partClass.decode(value, tracked))
    return new Map(parts.map((part) => [userKeyId(this.partClass.idOf(part)), this.partClass.indexed(part)]))
  }
}
