import { CLOSED_BIN, type EntityModel } from '../../model/index.js'
import { read, write, type WriteCommand } from '../../plan/command.js'
import { owed, RETRIED, type Draft, type Settle, type StageName } from '../../plan/draft.js'
import type { WriteOperation } from '../../plan/operation.js'
import { addToBin, touch } from '../../plan/operations.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import { beingArchived } from '../contract/companion-errors.js'
import type { Reader } from '../contract/reader.js'
import {
  addToCompanion,
  companionOf,
  createCompanion,
  nextShard,
  removeUnlessShared,
  type ShardedCounter,
} from './counter-companions.js'
import { kept } from './link-bin.js'

/** Companion that takes what one plan adds to the count of an owner. */
interface Shard {
  readonly counter: ShardedCounter
  readonly number: number
  readonly key: RecordKey
  readonly owner: RecordKey
}

/** Keeps counts (`@Sharded @CountOf`) in companions of their owner, so that writers of its members do not meet at its record. */
export class ShardedCounts {
  readonly #model: EntityModel
  readonly #counters: readonly ShardedCounter[]
  /** Shards that each plan has chosen, by its time: all that it adds to a count is one command. */
  readonly #chosen = new WeakMap<Date, readonly number[]>()

  constructor(model: EntityModel, counters: readonly ShardedCounter[]) {
    this.#model = model
    this.#counters = counters
  }

  add(owner: RecordKey, delta: number, draft: Draft, stage: StageName): void {
    // Its shards go with an owner that the same flush deletes.
    if (draft.isDeleting(owner)) return
    for (const shard of this.#shards(owner, draft)) {
      const { counter, key } = shard
      if (draft.isTransaction) draft.tie(key, owner)
      const settle = owed((outcome) => {
        if (outcome.reason !== 'missing') return outcome.state === 'written'
        this.#create(shard, delta, draft, stage)
        return RETRIED
      })
      draft.add(stage, addToCompanion(this.#model, key, counter.bin, delta), settle)
    }
  }

  #create(shard: Shard, delta: number, draft: Draft, stage: StageName): void {
    const { counter, number, key, owner } = shard
    const settle = owed((created) => {
      // The owner is being archived, and this shard is closed.
      if (created.reason === 'missing') this.#addToBase(shard, delta, draft, stage)
      // Only after it was made: a delete that began before has left it, and one that begins later removes it.
      else if (created.state !== 'notWritten') draft.add(stage, kept(this.#model, owner), owed(confirmed(created)))
      return isWrittenOrMissing(created)
    })
    const confirmed =
      (created: Outcome): Settle =>
      ({ reason }) => {
        if (reason === 'missing' || reason === 'guard') this.#rollback(shard, delta, created, draft)
        return true
      }
    draft.add(stage, createCompanion(this.#model, key, counter.bin, delta, owner, number), settle)
  }

  /** Takes the addition out again, and the companion with it unless others have added to it. One that is in doubt may not be there. */
  #rollback(shard: Shard, delta: number, { state }: Outcome, draft: Draft): void {
    const { counter, key } = shard
    const undone = ({ state: ended }: Outcome): boolean => {
      // An owner that is only being archived must not lose it.
      if (ended === 'written' && state === 'written') this.#addToBase(shard, delta, draft, 'undo')
      return true
    }
    draft.add('undo', removeUnlessShared(this.#model, key, counter.bin, delta), (removed) => {
      if (removed.reason === 'guard' && state === 'written')
        draft.add('undo', addToCompanion(this.#model, key, counter.bin, -delta), undone)
      return undone(removed)
    })
  }

  /** Adds to the part of the count that is in the owner's record. */
  #addToBase({ counter, owner }: Shard, delta: number, draft: Draft, stage: StageName): void {
    draft.add(stage, this.#toOwner(owner, addToBin(counter.bin, delta)), owed(isWrittenOrMissing))
  }

  /** A transaction reads first: a companion that is missing is made only while its owner is held. */
  async addInside(
    owner: RecordKey,
    delta: number,
    draft: Draft,
    stage: StageName,
    reader: Pick<Reader, 'read'>,
  ): Promise<void> {
    if (draft.isDeleting(owner)) return
    const { name } = this.#model
    const shards = this.#shards(owner, draft)
    const found = await reader.read(shards.map(({ key }) => read(name, key, [CLOSED_BIN])))
    if (found.some((shard) => shard?.bins[CLOSED_BIN] != null)) throw beingArchived(this.#model, owner.key)
    for (const [i, { counter, number, key }] of shards.entries()) {
      const command =
        found[i] === null
          ? createCompanion(this.#model, key, counter.bin, delta, owner, number)
          : addToCompanion(this.#model, key, counter.bin, delta)
      draft.add(stage, command, isWrittenOrMissing)
    }
    if (!found.includes(null)) return
    const [root] = await reader.read([read(name, owner, 'none')])
    // An owner that is not there is made by the same transaction.
    if (root !== null) draft.add(stage, this.#toOwner(owner, touch()), isWrittenOrMissing)
  }

  #toOwner(owner: RecordKey, operation: WriteOperation): WriteCommand {
    return write(this.#model.name, owner, [operation], { exists: 'mustExist', ttl: 'keep' })
  }

  /** Says where it counts. */
  get places(): string {
    return this.#counters.map(({ name, shards }) => `one of the ${shards} shards of ${name}`).join(' and ')
  }

  #shards(owner: RecordKey, draft: Draft): Shard[] {
    const chosen = this.#chosen.get(draft.now) ?? this.#counters.map((counter) => nextShard(counter, draft))
    this.#chosen.set(draft.now, chosen)
    return this.#counters.map((counter, i) => {
      const number = chosen[i]
      return { counter, number, key: companionOf(owner, counter, number), owner }
    })
  }
}
