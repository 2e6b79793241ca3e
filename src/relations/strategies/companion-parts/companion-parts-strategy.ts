import type { PartCodec } from '../../../codec/index.js'
import type { EntityModel, RelationModel } from '../../../model/index.js'
import type { BinLayout } from '../../../plan/bin-layout.js'
import { read } from '../../../plan/command.js'
import type { PlanDraft } from '../../../plan/plan-draft.js'
import { isCreation } from '../../contract/member.js'
import type { Reader } from '../../contract/reader.js'
import type { LocatedPart } from '../../contract/relation-strategy.js'
import type { Tracked } from '../../contract/tracked.js'
import { askCompanions } from '../../write/ask-companions.js'
import { closeCompanions, createOwner } from '../../write/companion-lifecycle.js'
import { together } from '../../write/together.js'
import type { StoredRefs } from '../consolidate/inverse-changes.js'
import { itemsOf } from '../consolidate/part-items.js'
import type { PartTable } from '../consolidate/part-table.js'
import { PartsStrategy } from '../consolidate/parts-strategy.js'
import { CompanionPartVerification } from './companion-part-verification.js'
import { locateApart } from './locate-apart.js'
import { PartHomes } from './part-homes.js'
import { PartWrites } from './part-writes.js'
import { PartsAcross } from './parts-across.js'

const NO_BINS: readonly never[] = Object.freeze([])

/** Children in companion records of their parent, one or several: each holds a map of children as the parent's own record would. */
export class CompanionPartsStrategy extends PartsStrategy {
  readonly bins: readonly string[] = NO_BINS
  readonly layouts: readonly BinLayout[] = NO_BINS
  readonly isInRecord = false
  protected override readonly hasCursors = true
  readonly inside: CompanionPartVerification
  readonly #homes: PartHomes
  readonly #writes: PartWrites

  constructor(model: RelationModel, owner: EntityModel, codec: PartCodec) {
    super(model, owner, codec)
    this.#homes = new PartHomes(owner, model)
    this.#writes = new PartWrites(this.#homes)
    this.inside = new CompanionPartVerification(this.partClass, this.#homes)
  }

  save(tracked: Tracked, draft: PlanDraft, reader: Reader): void | Promise<void> {
    const table = this.table(tracked.entity)
    if (tracked.state === 'new') {
      const isNew = isCreation(tracked)
      createOwner(tracked, this.#homes.scheme, draft, () => (table.isLoaded ||= isNew))
    }
    const unknown = isCreation(tracked) ? [] : this.unknownRefs(table)
    if (unknown.length === 0) return this.#plan(tracked, table, new Map(), draft, reader)
    return this.readRefs(tracked, unknown, reader).then((refs) => this.#plan(tracked, table, refs, draft, reader))
  }

  remove(tracked: Tracked, draft: PlanDraft, reader: Reader): void | Promise<void> {
    return closeCompanions(tracked, this.#homes, draft, reader)
  }

  async load(level: readonly Tracked[], reader: Reader): Promise<readonly Tracked[]> {
    const tables = level.map(({ entity }) => this.table(entity)).filter(({ isComplete }) => !isComplete)
    const owners = tables.map(({ owner }) => owner.key)
    const { scheme, bin } = this.#homes
    const answers = await askCompanions(this.owner, scheme, owners, reader, (home) =>
      read(this.owner.name, home, [bin]),
    )
    tables.forEach((table, i) => table.loadMore(...answers[i].map(({ record }) => record?.bins[bin])))
    return []
  }

  protected questions(tracked: Tracked, reader: Reader): PartsAcross {
    return new PartsAcross(this.partClass, this.#homes, tracked, reader)
  }

  protected override locate(tracked: Tracked, id: unknown): LocatedPart {
    return locateApart(super.locate(tracked, id), this.table(tracked.entity), this.#homes)
  }

  /** Children that go to another owner are stored there before they are taken out here. */
  #plan(tracked: Tracked, table: PartTable, refs: StoredRefs, draft: PlanDraft, reader: Reader): void | Promise<void> {
    const moving = [...table.moving()]
    for (const { to } of moving) draft.tie(tracked.key, to.owner.key)
    const parts = { table, refs, isOwnerNew: isCreation(tracked), isUpsert: tracked.overwrite === true }
    const leaving = { removed: moving.map(({ id }) => id), changed: [], recorded: [], put: [] }
    return together([
      this.#writes.send(parts, itemsOf(table), draft, 'add references', reader),
      this.#writes.send(parts, leaving, draft, 'remove references', reader),
    ])
  }
}
