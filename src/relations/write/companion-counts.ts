import type { EntityModel, RelationModel } from '../../model/index.js'
import { write, type WriteCommand } from '../../plan/command.js'
import type { Draft, StageName } from '../../plan/draft.js'
import { addToBin } from '../../plan/operations.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import { SIZE_AFTER, SIZE_BEFORE } from './stored-counts.js'

/**
 * Keeps the counts (`@CountOf`) of an owner whose members are in companions. Outside of transactions a companion tells by how much a write has
 * changed its size, and a command of its own adds that to the owner's count: a process that dies between leaves a wrong count for `verify`.
 */
export class CompanionCounts {
  readonly #model: EntityModel
  readonly #relation: string
  readonly #bins: readonly string[]

  private constructor(model: EntityModel, relation: string, bins: readonly string[]) {
    this.#model = model
    this.#relation = relation
    this.#bins = bins
  }

  /** Undefined where nothing counts this collection. */
  static of(model: EntityModel, { name }: RelationModel): CompanionCounts | undefined {
    const bins = model.properties.flatMap(({ bin, countOf }) => (countOf === name ? [bin] : []))
    return bins.length === 0 ? undefined : new CompanionCounts(model, name, bins)
  }

  /** Takes over what a write of a companion tells; all that a stage has changed is one command to the owner. */
  written(owner: RecordKey, outcome: Outcome, draft: Draft, stage: StageName): void {
    if (outcome.state !== 'written') return
    draft.collect(`${this.#relation} counts ${recordId(owner)} ${stage}`, outcome, (outcomes) => {
      const delta = [...new Set(outcomes)].reduce((sum, each) => sum + growthOf(each), 0)
      if (delta !== 0) this.add(owner, delta, draft, stage)
    })
  }

  add(owner: RecordKey, delta: number, draft: Draft, stage: StageName): void {
    if (delta !== 0) draft.add(stage, this.#command(owner, delta), isWrittenOrMissing)
  }

  #command(owner: RecordKey, delta: number): WriteCommand {
    const operations = this.#bins.map((bin) => addToBin(bin, delta))
    return write(this.#model.name, owner, operations, { exists: 'mustExist', ttl: 'keep' })
  }
}

/** A lost answer tells nothing. */
function growthOf({ bins: { [SIZE_BEFORE]: before, [SIZE_AFTER]: after } }: Outcome): number {
  return typeof before === 'number' && typeof after === 'number' ? after - before : 0
}
