import type { PartCodec } from '../../../codec/index.js'
import type { EntityModel, RelationModel } from '../../../model/index.js'
import { orderedLayout, type BinLayout } from '../../../plan/bin-layout.js'
import { read, whileThere, write, type Bins, type Existence, type WriteCommand } from '../../../plan/command.js'
import type { StageName } from '../../../plan/draft.js'
import type { WriteOperation } from '../../../plan/operation.js'
import type { PlanDraft } from '../../../plan/plan-draft.js'
import type { Value } from '../../../plan/value.js'
import { isCreation } from '../../contract/member.js'
import type { Reader } from '../../contract/reader.js'
import type { Tracked } from '../../contract/tracked.js'
import { copiedParts } from './copied-parts.js'
import { InverseChanges, type StoredRefs } from './inverse-changes.js'
import { PartChanges } from './part-changes.js'
import { leavingItems } from './part-items.js'
import { PartReads } from './part-reads.js'
import { PartTable } from './part-table.js'
import { PartVerification } from './part-verification.js'
import { PartsStrategy } from './parts-strategy.js'

/**
 * The children inside the record of their parent: a map in key order from child key to child. What changes goes into the record's own
 * write: whole children that are new, single fields of those that were there, and the keys of those that go.
 */
export class ConsolidateStrategy extends PartsStrategy {
  readonly bins: readonly string[]
  readonly quietBins: readonly string[]
  readonly layouts: readonly BinLayout[]
  readonly isInRecord: boolean
  readonly inside: PartVerification

  constructor(model: RelationModel, owner: EntityModel, codec: PartCodec) {
    super(model, owner, codec)
    this.bins = [model.bin!]
    this.quietBins = [
      ...(model.sortKeyBin === undefined ? [] : [model.sortKeyBin]),
      ...(model.inverseIndexes ?? []).map(({ bin }) => bin),
      ...(model.orders ?? []).map(({ bin }) => bin),
    ]
    this.layouts = [
      ...this.partClass.maps.map(({ bin }) => orderedLayout(bin, 'map')),
      ...this.partClass.orders.map(({ bin }) => orderedLayout(bin, 'list')),
    ]
    this.inside = new PartVerification(this.partClass)
    this.isInRecord = !this.hasEagerRefs
  }

  copied(stored: Bins, owner: Tracked, reader: Reader): readonly WriteOperation[] {
    return copiedParts(this.partClass, stored[this.model.bin!], owner, reader)
  }

  check(owner: Tracked, stored: Value | undefined): void {
    for (const value of this.partClass.valuesIn(stored, owner)) this.partClass.decode(value, owner)
  }

  completed({ entity }: Tracked, stored: Value | undefined): void {
    const table = this.table(entity)
    if (!table.isLoaded) table.loadMore(stored)
  }

  save(tracked: Tracked, draft: PlanDraft, reader: Reader): void | Promise<void> {
    const table = this.table(tracked.entity)
    // A record must be there before anything points to it.
    const stage = !draft.isTransaction && this.newTargets(table, reader).length > 0 ? 'add references' : 'write'
    if (isCreation(tracked)) return this.#planWhole(tracked, table, draft, stage)
    const unknown = this.unknownRefs(table)
    if (unknown.length === 0) return this.#planChanges(tracked, table, new Map(), draft, stage)
    return this.readRefs(tracked, unknown, reader).then((refs) => this.#planChanges(tracked, table, refs, draft, stage))
  }

  /** The parts go with the record. */
  remove(): void {}

  async load(level: readonly Tracked[], reader: Reader): Promise<readonly Tracked[]> {
    const tables = level.map(({ entity }) => this.table(entity))
    const missing = tables.filter(({ isComplete }) => !isComplete)
    const records = await reader.read(missing.map(({ owner }) => read(this.owner.name, owner.key, this.bins)))
    missing.forEach((table, i) => table.loadMore(records[i]?.bins[this.model.bin!]))
    return []
  }

  protected questions(tracked: Tracked, reader: Reader): PartReads {
    return new PartReads(this.partClass, tracked, reader)
  }

  #planWhole(tracked: Tracked, table: PartTable, draft: PlanDraft, stage: StageName): void {
    const changes = new PartChanges(table, new InverseChanges(this.partClass, new Map())).gatherAll()
    if (stage === 'write') return this.#add(draft, this.#write(tracked, changes.creation(), 'mustNotExist'), changes)
    // The record comes first, with empty maps; the children follow when there is what they point to.
    const empty = this.#write(tracked, changes.emptyCreation(), 'mustNotExist')
    draft.add('write', empty, ({ state }) => (table.isLoaded ||= state === 'written'))
    this.#add(draft, this.#write(tracked, changes.operations(), 'mustExist'), changes, stage)
  }

  #write({ key }: Tracked, operations: readonly WriteOperation[], exists: Existence): WriteCommand {
    return write(this.owner.name, key, operations, { exists, ttl: 'keep', watchSize: true })
  }

  #planChanges(tracked: Tracked, table: PartTable, refs: StoredRefs, draft: PlanDraft, stage: StageName): void {
    this.#planOwn(tracked, table, refs, draft, stage)
    this.#planMoves(tracked, table, refs, draft)
  }

  #planOwn(tracked: Tracked, table: PartTable, refs: StoredRefs, draft: PlanDraft, stage: StageName): void {
    const changes = new PartChanges(table, new InverseChanges(this.partClass, refs))
    let left = changes.gather()
    if (left.length > 0 && draft.isInside) throw this.partClass.tooManyMoves(tracked, left.length, changes.moveCount)
    // As with lists of keys, an upsert leaves the children that are there: what was added is added.
    const isUpsert = tracked.overwrite === true
    if (changes.isEmpty && !isUpsert) return
    const operations = isUpsert ? [...changes.emptyCreation(), ...changes.operations()] : changes.operations()
    const command = write(this.owner.name, tracked.key, operations, {
      exists: isUpsert ? 'upsert' : 'mustExist',
      ttl: 'keep',
      guards: [whileThere(this.owner), ...changes.guards],
      watchSize: true,
    })
    const more: PartChanges[] = []
    while (left.length > 0) {
      const next = new PartChanges(table, new InverseChanges(this.partClass, refs))
      left = next.gatherChanged(left)
      more.push(next)
    }
    if (more.length > 0)
      draft.follow(stage, () => `${more.length} more writes of its children, which change their places`)
    this.#add(draft, command, changes, stage, () => this.#planMore(tracked, more, draft, stage))
  }

  /** The writes that are left, one after the other: a stage has one write for each record. */
  #planMore(tracked: Tracked, [next, ...more]: readonly PartChanges[], draft: PlanDraft, stage: StageName): void {
    if (next === undefined) return
    const options = { exists: 'mustExist', ttl: 'keep', guards: [whileThere(this.owner), ...next.guards] } as const
    const command = write(this.owner.name, tracked.key, next.operations(), options)
    this.#add(draft, command, next, stage, () => this.#planMore(tracked, more, draft, stage))
  }

  /** Takes out children that go to other records: in the same transaction, or once they are stored there. */
  #planMoves(tracked: Tracked, table: PartTable, refs: StoredRefs, draft: PlanDraft): void {
    const leaving = leavingItems(table)
    if (leaving === undefined) return
    for (const owner of leaving.to) draft.tie(tracked.key, owner.key)
    const changes = new PartChanges(table, new InverseChanges(this.partClass, refs))
    changes.gatherThese(leaving.items)
    const options = { exists: 'mustExist', ttl: 'keep', guards: changes.guards } as const
    this.#add(draft, write(this.owner.name, tracked.key, changes.operations(), options), changes, 'remove references')
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
}
