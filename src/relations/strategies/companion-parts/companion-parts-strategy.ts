import type { PartCodec } from '../../../codec/index.js'
import type { EntityModel, RelationModel } from '../../../model/index.js'
import type { BinLayout } from '../../../plan/bin-layout.js'
import { read } from '../../../plan/command.js'
import type { PlanDraft } from '../../../plan/plan-draft.js'
import type { UserKey } from '../../../plan/record-key.js'
import type { MapKey, Value } from '../../../plan/value.js'
import type { FoundHomes } from '../../contract/index-lookup.js'
import { isCreation } from '../../contract/member.js'
import type { Reader } from '../../contract/reader.js'
import type { CompanionRecords, LocatedPart } from '../../contract/relation-strategy.js'
import type { Tracked } from '../../contract/tracked.js'
import { closeCompanions, createOwner } from '../../write/companion-lifecycle.js'
import { copiedParts } from '../consolidate/copied-parts.js'
import type { StoredRefs } from '../consolidate/inverse-changes.js'
import { itemsOf, leavingItems } from '../consolidate/part-items.js'
import type { PartTable } from '../consolidate/part-table.js'
import { PartsStrategy } from '../consolidate/parts-strategy.js'
import { CompanionPartVerification } from './companion-part-verification.js'
import { locateApart } from './locate-apart.js'
import { PartDates } from './part-dates.js'
import { PartHomes } from './part-homes.js'
import { PartWrites } from './part-writes.js'
import { takePointing } from './pointing-parts.js'
import { PartsAcross } from './parts-across.js'
import { PartsInBuckets } from './parts-in-buckets.js'

const NO_BINS: readonly never[] = Object.freeze([])
const NONE: ReadonlyMap<string, never> = new Map<string, never>()

/** Children in companion records of their parent, one or several: each holds a map of children as the parent's own record would. */
export class CompanionPartsStrategy extends PartsStrategy {
  readonly bins: readonly string[] = NO_BINS
  readonly layouts: readonly BinLayout[] = NO_BINS
  readonly isInRecord = false
  protected override readonly hasCursors = true
  protected override readonly hasWindows: boolean
  readonly inside: CompanionPartVerification
  readonly companions: CompanionRecords
  readonly #homes: PartHomes
  readonly #writes: PartWrites
  /** Set where dates of the children choose their companions. */
  readonly #dates: PartDates | undefined

  constructor(model: RelationModel, owner: EntityModel, codec: PartCodec) {
    super(model, owner, codec)
    this.#homes = new PartHomes(owner, model)
    this.hasWindows = this.#homes.buckets !== undefined
    this.#writes = new PartWrites(this.#homes)
    this.#dates = this.#homes.buckets && new PartDates(this.#homes.buckets, this.partClass)
    this.inside = new CompanionPartVerification(this.partClass, this.#homes)
    this.companions = {
      of: (key, stored) => {
        this.#homes.learn(key, stored)
        return this.#homes.companions(key)
      },
      copied: (stored, tracked, reader) => copiedParts(this.partClass, stored[this.#homes.bin], tracked, reader),
    }
  }

  save(tracked: Tracked, draft: PlanDraft, reader: Reader): void | Promise<void> {
    const table = this.table(tracked.entity)
    const isNew = isCreation(tracked)
    // A deleted record under the same key may have had others.
    if (isNew) this.#homes.buckets?.learn(tracked.key)
    this.#dates?.check(table, draft.now)
    if (tracked.state === 'new') {
      const buckets = isNew ? this.#dates?.describe(table) : undefined
      createOwner(tracked, this.#homes.scheme, draft, () => (table.isLoaded ||= isNew), buckets)
    }
    const unknown = isNew ? [] : this.unknownRefs(table)
    const unplaced = isNew ? [] : (this.#dates?.unplaced(table) ?? [])
    if (unknown.length === 0 && unplaced.length === 0) return this.#plan(tracked, table, NONE, NONE, draft, reader)
    const refs = unknown.length === 0 ? NONE : this.readRefs(tracked, unknown, reader)
    const places = unplaced.length === 0 ? NONE : this.questions(tracked, reader).placesOf(unplaced)
    return Promise.all([refs, places]).then(([known, found]) => this.#plan(tracked, table, known, found, draft, reader))
  }

  remove(tracked: Tracked, draft: PlanDraft, reader: Reader): void | Promise<void> {
    return closeCompanions(tracked, this.#homes, draft, reader)
  }

  async load(level: readonly Tracked[], reader: Reader): Promise<readonly Tracked[]> {
    const tables = level.map(({ entity }) => this.table(entity)).filter(({ isComplete }) => !isComplete)
    const owners = tables.map(({ owner }) => owner.key)
    const { bin } = this.#homes
    const answers = await this.#homes.ask(owners, reader, (home) => read(this.owner.name, home, [bin]))
    tables.forEach((table, i) => table.loadMore(...answers[i].map(({ record }) => record?.bins[bin])))
    return []
  }

  takePointing(
    owners: readonly Tracked[],
    index: number,
    pointedTo: UserKey,
    reader: Reader,
    found?: FoundHomes,
  ): Promise<readonly (readonly Value[])[]> {
    const tables = owners.map(({ entity }) => this.table(entity))
    return takePointing(tables, this.model.inverseIndexes![index], pointedTo, this.#homes, reader, found)
  }

  protected questions(tracked: Tracked, reader: Reader): PartsAcross {
    const Questions = this.#homes.buckets === undefined ? PartsAcross : PartsInBuckets
    return new Questions(this.partClass, this.#homes, tracked, reader)
  }

  protected override locate(tracked: Tracked, id: unknown): LocatedPart {
    return locateApart(super.locate(tracked, id), this.table(tracked.entity), this.#homes)
  }

  /** Children that go to another owner are stored there before they are taken out here. */
  #plan(
    tracked: Tracked,
    table: PartTable,
    refs: StoredRefs,
    places: ReadonlyMap<string, MapKey>,
    draft: PlanDraft,
    reader: Reader,
  ): void | Promise<void> {
    const leaving = leavingItems(table)
    for (const owner of leaving?.to ?? []) draft.tie(tracked.key, owner.key)
    const parts = {
      table,
      refs,
      places,
      isOwnerNew: isCreation(tracked),
      isUpsert: tracked.overwrite === true,
      isOwnerMade: tracked.createsRecord === true,
    }
    this.#dates?.checkReplaced(table, places)
    const items = this.#dates?.placedItems(table, places, draft) ?? itemsOf(table)
    const sending = this.#writes.send(parts, items, draft, 'add references', reader)
    if (leaving === undefined) return sending
    // Runs one after the other: what is known of a child is last what it is without those that leave it.
    const rest = (): void | Promise<void> => this.#writes.send(parts, leaving.items, draft, 'remove references', reader)
    return sending === undefined ? rest() : sending.then(rest)
  }
}
