import type { EntityModel, RelationModel } from '../../model/index.js'
import { write, type WriteCommand } from '../../plan/command.js'
import { owed, type Draft, type StageName } from '../../plan/draft.js'
import { addToBin } from '../../plan/operations.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { Reader } from '../contract/reader.js'
import { countersOf } from './counter-companions.js'
import { counting } from './explain-reads.js'
import { ShardedCounts } from './sharded-counts.js'
import { SIZE_AFTER, SIZE_BEFORE } from './stored-counts.js'

/**
 * Keeps the counts (`@CountOf`) of an owner whose members are in companions. Outside of transactions a companion tells by how much a write has
 * changed its size, and a command of its own adds that to the owner's count: a process that dies between leaves a wrong count for `verify`.
 */
export class CompanionCounts {
  readonly #model: EntityModel
  readonly #relation: string
  /** Counts in the owner's record. */
  readonly #bins: readonly string[]
  readonly #sharded: ShardedCounts | undefined

  private constructor(model: EntityModel, relation: string) {
    this.#model = model
    this.#relation = relation
    const counts = model.properties.filter(({ countOf }) => countOf === relation)
    this.#bins = counts.flatMap(({ bin, sharding }) => (sharding === undefined ? [bin] : []))
    const sharded = countersOf(model).filter(({ countOf }) => countOf === relation)
    if (sharded.length > 0) this.#sharded = new ShardedCounts(model, sharded)
  }

  /** Undefined where nothing counts this collection. */
  static of(model: EntityModel, { name }: RelationModel): CompanionCounts | undefined {
    return model.properties.some(({ countOf }) => countOf === name) ? new CompanionCounts(model, name) : undefined
  }

  /** Plans that a change will be counted: a transaction that is only being planned must hold what counts it as well. */
  plan(owner: RecordKey, delta: number, draft: Draft, stage: StageName): void {
    if (draft.isTransaction) return this.#add(owner, delta, draft, stage)
    draft.follow(stage, counting({ model: this.#model, key: owner }, this.#relation, this.#sharded?.places))
  }

  /** Takes over what a write of a companion tells; all that a stage has changed is one command to each record that counts. */
  written(owner: RecordKey, outcome: Outcome, draft: Draft, stage: StageName): void {
    if (outcome.state !== 'written') return
    draft.collect(`${this.#relation} counts ${recordId(owner)} ${stage}`, outcome, (outcomes) => {
      this.#add(
        owner,
        [...new Set(outcomes)].reduce((sum, each) => sum + growthOf(each), 0),
        draft,
        stage,
      )
    })
  }

  #add(owner: RecordKey, delta: number, draft: Draft, stage: StageName): void {
    if (delta === 0) return
    this.#addToOwner(owner, delta, draft, stage)
    this.#sharded?.add(owner, delta, draft, stage)
  }

  /** Counts what a transaction is about to change. */
  async addInside(
    owner: RecordKey,
    delta: number,
    draft: Draft,
    stage: StageName,
    reader: Pick<Reader, 'read'>,
  ): Promise<void> {
    if (delta === 0) return
    this.#addToOwner(owner, delta, draft, stage)
    await this.#sharded?.addInside(owner, delta, draft, stage, reader)
  }

  #addToOwner(owner: RecordKey, delta: number, draft: Draft, stage: StageName): void {
    if (this.#bins.length > 0) draft.add(stage, this.#command(owner, delta), owed(isWrittenOrMissing))
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
