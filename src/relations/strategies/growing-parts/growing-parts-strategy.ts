import type { PartCodec } from '../../../codec/index.js'
import type { EntityModel, RelationModel } from '../../../model/index.js'
import { orderedLayout, type BinLayout } from '../../../plan/bin-layout.js'
import type { Bins } from '../../../plan/command.js'
import type { Draft } from '../../../plan/draft.js'
import type { WriteOperation } from '../../../plan/operation.js'
import type { PlanDraft } from '../../../plan/plan-draft.js'
import type { UserKey } from '../../../plan/record-key.js'
import type { Value } from '../../../plan/value.js'
import type { GrowingMembers } from '../../contract/growing-members.js'
import { isCreation } from '../../contract/member.js'
import type { Reader } from '../../contract/reader.js'
import type { CompanionRecords, LocatedPart } from '../../contract/relation-strategy.js'
import type { Tracked } from '../../contract/tracked.js'
import { closeCompanions } from '../../write/companion-lifecycle.js'
import { linkWrite } from '../../write/link-bin.js'
import { partCreation } from '../companion-parts/part-transfer.js'
import { takePointing, takePointingIn } from '../companion-parts/pointing-parts.js'
import { copiedParts } from '../consolidate/copied-parts.js'
import type { StoredRefs } from '../consolidate/inverse-changes.js'
import { itemsOf, leavingItems } from '../consolidate/part-items.js'
import type { PartTable } from '../consolidate/part-table.js'
import { PartsStrategy } from '../consolidate/parts-strategy.js'
import { GrowingPartHomes } from './growing-part-homes.js'
import { GrowingPartQuestions } from './growing-part-questions.js'
import { GrowingPartVerification } from './growing-part-verification.js'
import { GrowingPartWrites } from './growing-part-writes.js'
import { locateGrowing } from './locate-growing.js'
import { childrenIn } from './part-bin.js'

const NO_BINS: readonly never[] = Object.freeze([])
const NONE: ReadonlyMap<string, never> = new Map<string, never>()

/** Children in the record of their parent until that becomes too large or too busy, then in companions. */
export class GrowingPartsStrategy extends PartsStrategy {
  readonly bins: readonly string[] = NO_BINS
  readonly layouts: readonly BinLayout[]
  readonly isInRecord = false
  protected override readonly hasCursors = true
  readonly inside: GrowingPartVerification
  readonly companions: CompanionRecords
  readonly #homes: GrowingPartHomes
  readonly #writes: GrowingPartWrites

  constructor(model: RelationModel, owner: EntityModel, codec: PartCodec) {
    super(model, owner, codec)
    this.#homes = new GrowingPartHomes(owner, this.partClass)
    this.#writes = new GrowingPartWrites(this.#homes)
    this.inside = new GrowingPartVerification(this.partClass, this.#homes)
    this.companions = {
      of: (key, stored) => {
        this.#homes.learn(key, stored)
        return this.#homes.companions(key)
      },
      settled: (key, stored, companion) => this.#homes.settled(key, stored, companion),
      copied: (stored, tracked, reader) => this.copied(stored, tracked, reader),
    }
    this.layouts = [
      ...this.partClass.maps.map(({ bin }) => orderedLayout(bin, 'map')),
      ...this.partClass.orders.map(({ bin }) => orderedLayout(bin, 'list')),
    ]
  }

  get growing(): GrowingMembers {
    return this.#homes
  }

  copied(stored: Bins, owner: Tracked, reader: Reader): readonly WriteOperation[] {
    return copiedParts(this.partClass, stored[this.model.bin!], owner, reader)
  }

  save(tracked: Tracked, draft: PlanDraft, reader: Reader): void | Promise<void> {
    const table = this.table(tracked.entity)
    if (tracked.state === 'new') this.#create(tracked, table, draft)
    const unknown = isCreation(tracked) ? [] : this.unknownRefs(table)
    if (unknown.length === 0) return this.#plan(tracked, table, NONE, draft, reader)
    return this.readRefs(tracked, unknown, reader).then((refs) => this.#plan(tracked, table, refs, draft, reader))
  }

  /** The owner is marked, so that no split begins any more, and companions go before it. */
  remove(tracked: Tracked, draft: PlanDraft, reader: Reader): void | Promise<void> {
    return closeCompanions(tracked, this.#homes.closable, draft, reader)
  }

  async load(level: readonly Tracked[], reader: Reader): Promise<readonly Tracked[]> {
    const tables = level.map(({ entity }) => this.table(entity)).filter(({ isComplete }) => !isComplete)
    const { reads } = this.#homes.growth
    const stored = await Promise.all(tables.map(({ owner }) => reads.whole(owner.key, reader)))
    tables.forEach((table, i) => table.loadMore(stored[i]))
    return []
  }

  async takePointing(
    owners: readonly Tracked[],
    index: number,
    pointedTo: UserKey,
    reader: Reader,
  ): Promise<readonly (readonly Value[])[]> {
    const inverse = this.model.inverseIndexes![index]
    const tables = owners.map(({ entity }) => this.table(entity))
    return Promise.all(
      tables.map(async (table) => {
        try {
          const [entries] = await takePointing([table], inverse, pointedTo, this.#homes, reader)
          return entries
        } catch (error) {
          if (!this.#homes.isMoving(error)) throw error
          const stored = await this.#homes.growth.reads.whole(table.owner.key, reader)
          return takePointingIn(table, childrenIn(stored), index, pointedTo)
        }
      }),
    )
  }

  protected questions(tracked: Tracked, reader: Reader): GrowingPartQuestions {
    return new GrowingPartQuestions(this.partClass, this.#homes, tracked, reader)
  }

  protected override locate(tracked: Tracked, id: unknown): LocatedPart {
    return locateGrowing(super.locate(tracked, id), this.table(tracked.entity), this.#homes)
  }

  /** The maps of a new record; one that is upserted may have its children elsewhere. */
  #create(tracked: Tracked, table: PartTable, draft: Draft): void {
    const isNew = isCreation(tracked)
    const create = linkWrite(this.owner, tracked.key, partCreation(this.partClass), isNew ? 'mustNotExist' : 'upsert')
    draft.add('write', create, ({ state }) => {
      if (state === 'written') table.isLoaded ||= isNew
      return state === 'written'
    })
  }

  /** Children that go to another owner are stored there before they are taken out here. */
  #plan(tracked: Tracked, table: PartTable, refs: StoredRefs, draft: PlanDraft, reader: Reader): void | Promise<void> {
    const leaving = leavingItems(table)
    for (const owner of leaving?.to ?? []) draft.tie(tracked.key, owner.key)
    const parts = {
      table,
      refs,
      places: NONE,
      isOwnerNew: isCreation(tracked),
      isUpsert: tracked.overwrite === true,
      isOwnerMade: tracked.createsRecord === true,
    }
    const sending = this.#writes.send(parts, itemsOf(table), draft, 'add references', reader)
    if (leaving === undefined) return sending
    // Runs one after the other: what is known of a child is last what it is without those that leave it.
    const rest = (): void | Promise<void> => this.#writes.send(parts, leaving.items, draft, 'remove references', reader)
    return sending === undefined ? rest() : sending.then(rest)
  }
}
