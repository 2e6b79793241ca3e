import { describeKey } from '../../keys/index.js'
import { goneBinsOf, isGoneBy } from '../../model/index.js'
import { read } from '../../plan/command.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import type { Draft, StageName } from '../../plan/draft.js'
import { showKey } from '../../plan/record-key.js'
import { markDeleting } from '../../relations/write/delete-marker.js'
import type { Cascade, Contributor } from '../../relations/contract/contributor.js'
import type { Reader } from '../../relations/contract/reader.js'
import {
  addToCompanion,
  companionOf,
  companionsOf,
  createCompanion,
  nextShard,
  removeCompanion,
  type ShardedCounter,
} from '../../relations/write/counter-companions.js'
import { held } from '../../relations/write/link-bin.js'
import { gone } from '../context/session-errors.js'
import { planPatch } from '../flush/plan/patch.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import { checkClass, isOfClass } from '../flush/collect/check-class.js'
import { addFor, type CompanionAdd } from './companion-add.js'
import type { CounterShards } from './counter-shards.js'
import { makesRoot } from './own-changes.js'

/** Stores what is added to the sharded counters of a class: one command to one companion. The record itself is another contributor's. */
export class CounterContributor implements Contributor {
  readonly #shards: CounterShards
  /** Counters that programs add to; counts of collections change with these. */
  readonly #added: readonly ShardedCounter[]

  constructor(shards: CounterShards) {
    this.#shards = shards
    this.#added = shards.counters.filter(({ countOf }) => countOf === undefined)
  }

  /** The record's own contributor compares all values. */
  hasChanges(): boolean {
    return false
  }

  save(managed: ManagedEntity, draft: Draft, reader: Reader): void | Promise<void> {
    // A record that is made or replaced holds the value itself.
    if (managed.snapshot === undefined) return
    const adds = this.#added.flatMap((counter) => addFor(managed, counter, draft) ?? [])
    if (adds.length === 0) return
    // Companions do not say which class their record is.
    if (managed.isUnread && managed.model.discriminator !== undefined)
      return this.#addUnread(managed, adds, draft, reader)
    return this.#add(managed, adds, draft, reader)
  }

  async #addUnread(managed: ManagedEntity, adds: readonly CompanionAdd[], draft: Draft, reader: Reader): Promise<void> {
    if (!makesRoot(managed)) await checkClass(managed, reader)
    else if (!(await isOfClass(managed, reader))) {
      if (draft.isInside) return this.#addInside(managed, adds, draft, reader, true)
      // The record is made first, or refused as one of another class, and nothing is added then.
      if (managed.sending === undefined)
        draft.add('write', planPatch(managed, [], draft.now).command, ({ state }) => state === 'written')
      return this.#add(managed, adds, draft, reader, 'add references')
    }
    return this.#add(managed, adds, draft, reader)
  }

  #add(
    managed: ManagedEntity,
    adds: readonly CompanionAdd[],
    draft: Draft,
    reader: Reader,
    stage: StageName = 'write',
  ): void | Promise<void> {
    if (draft.isInside) return this.#addInside(managed, adds, draft, reader)
    for (const add of adds) {
      const { counter } = add
      const shard = nextShard(counter, draft)
      const key = companionOf(managed.key, counter, shard)
      draft.add(stage, addToCompanion(managed.model, key, counter.bin, add.by), (outcome) =>
        add.settle(outcome, key, shard, draft, reader),
      )
      draft.follow(stage, (isTransaction) =>
        isTransaction
          ? undefined
          : `any of the ${counter.shards} shards of ${counter.name} can take what is added; if ${showKey(key)} does not exist yet, it is created, and ${managed.model.name} ${describeKey(managed.key.key)} is asked whether it is still there`,
      )
    }
  }

  /** A transaction reads first: a companion that is missing is made only while its record is held. */
  async #addInside(
    managed: ManagedEntity,
    adds: readonly CompanionAdd[],
    draft: Draft,
    reader: Reader,
    isUnchecked = false,
  ): Promise<void> {
    const { model, key: root } = managed
    const placed = adds.map((add) => {
      const shard = nextShard(add.counter, draft)
      return { add, shard, key: companionOf(root, add.counter, shard) }
    })
    const found = await reader.read(placed.map(({ key }) => read(model.name, key, 'none')))
    for (const [i, { add, shard, key }] of placed.entries()) {
      const { bin } = add.counter
      const command =
        found[i] === null
          ? createCompanion(model, key, bin, add.by, root, shard)
          : addToCompanion(model, key, bin, add.by)
      draft.add('write', command, (outcome) => add.take(outcome))
    }
    if (isUnchecked || found.includes(null)) await this.#holdRoot(managed, draft, reader)
  }

  async #holdRoot(managed: ManagedEntity, draft: Draft, reader: Reader): Promise<void> {
    const { model, key } = managed
    const isWritten = ({ state }: Outcome): boolean => state === 'written'
    if (makesRoot(managed)) return draft.add('write', planPatch(managed, [], draft.now).command, isWritten)
    const [root] = await reader.read([read(model.name, key, goneBinsOf(model))])
    if (root === null || isGoneBy(model, root.bins)) throw gone(managed)
    draft.add('write', held(model, key), isWritten)
  }

  /** A delete in a transaction reads the record: whoever makes a companion meanwhile touches it. */
  async cascade({ state, model, key }: ManagedEntity, _reach: Cascade, reader: Reader): Promise<void> {
    if (state === 'removed' && reader.isInside) await reader.read([read(model.name, key, 'none')])
  }

  /** Until its companions are gone, the record says that it is being deleted: a delete that is cut off can be finished. */
  remove(managed: ManagedEntity, draft: Draft): void {
    if (!draft.isTransaction) draft.add('mark', markDeleting(managed), isWrittenOrMissing)
    for (const counter of this.#shards.counters)
      for (const key of companionsOf(managed.key, counter))
        draft.add('remove references', removeCompanion(managed.model, key), isWrittenOrMissing)
  }
}
