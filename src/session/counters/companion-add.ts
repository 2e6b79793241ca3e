import { SkeinError } from '../../errors/index.js'
import { describeKey } from '../../keys/index.js'
import type { WriteOperation } from '../../plan/operation.js'
import type { Outcome } from '../../plan/outcome.js'
import type { Draft } from '../../plan/draft.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Reader } from '../../relations/contract/reader.js'
import {
  addToCompanion,
  createCompanion,
  negative,
  removeUnlessShared,
  type Count,
  type ShardedCounter,
} from '../../relations/write/counter-companions.js'
import { askOwner } from '../../relations/write/owner-there.js'
import { gone } from '../context/session-errors.js'
import { planPatch } from '../flush/plan/patch.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { WriteOptions } from '../tracking/write-options.js'
import { sumOf } from './counter-shards.js'
import { makesRoot } from './own-changes.js'

/** Addition to a counter that is to be sent; undefined where there is none. */
export function addFor(managed: ManagedEntity, counter: ShardedCounter, draft: Draft): CompanionAdd | undefined {
  const { entity, snapshot, loaded, mapped, writeOptions = [] } = managed
  const compared = mapped.codec.diff(entity, snapshot!, loaded).filter((operation) => isOf(counter, operation))
  const recorded = writeOptions.filter(({ change }) => change !== undefined && isOf(counter, change.operation))
  const shown = sumOf(compared.map((operation) => deltaOf(managed, counter, operation)))
  const by = sumOf([shown, ...recorded.map(({ change }) => deltaOf(managed, counter, change!.operation))])
  const add = new CompanionAdd(managed, counter, by, shown, recorded)
  if (by !== 0 && by !== 0n) return add
  if (recorded.length > 0 || compared.length > 0) draft.beforeSending(() => add.confirm())
  return undefined
}

const isOf = ({ bin }: ShardedCounter, operation: WriteOperation): boolean =>
  'bin' in operation && operation.bin === bin

function deltaOf(managed: ManagedEntity, counter: ShardedCounter, operation: WriteOperation): Count {
  if (operation.kind === 'addToBin') return operation.delta as Count
  const { model, key } = managed
  throw new SkeinError(
    'SKEIN_2201',
    `${model.name}.${counter.name} of ${describeKey(key.key)} cannot be removed: its value is spread over ${counter.shards} shards.`,
    {
      className: model.name,
      property: counter.name,
      key: key.key,
      fix: `Set it to a number: the difference is added. Deleting the ${model.name} removes the counter.`,
    },
  )
}

/** Addition to a sharded counter on its way to a companion. */
export class CompanionAdd {
  readonly counter: ShardedCounter
  readonly by: Count
  readonly #managed: ManagedEntity
  /** The part of it that was assigned to the loaded entity. */
  readonly #shown: Count
  /** The part of it that handles have recorded. */
  readonly #recorded: readonly WriteOptions[]

  constructor(
    managed: ManagedEntity,
    counter: ShardedCounter,
    by: Count,
    shown: Count,
    recorded: readonly WriteOptions[],
  ) {
    this.#managed = managed
    this.counter = counter
    this.by = by
    this.#shown = shown
    this.#recorded = recorded
  }

  /** True when it was added. In doubt it counts as sent: added again, it might count twice. */
  take({ state }: Outcome): boolean {
    if (state === 'written' || state === 'inDoubt') this.confirm()
    return state === 'written'
  }

  /** Settles the write that creates a missing companion. */
  settle(outcome: Outcome, key: RecordKey, shard: number, draft: Draft, reader: Reader): boolean {
    if (outcome.state !== 'notWritten' || outcome.reason !== 'missing') return this.take(outcome)
    const { model, key: root } = this.#managed
    const command = createCompanion(model, key, this.counter.bin, this.by, root, shard)
    draft.add('add references', command, (created) => {
      const isAdded = this.take(created)
      // Only after it was made: a delete that began before has left it, and one that begins later removes it.
      if (created.state !== 'notWritten') this.#askRoot(key, draft, reader, isAdded)
      return isAdded
    })
    return true
  }

  #askRoot(key: RecordKey, draft: Draft, reader: Reader, isCertain: boolean): void {
    const managed = this.#managed
    const rollback = (error?: SkeinError): void => this.#rollback(key, draft, error ?? gone(managed), isCertain)
    if (!makesRoot(managed)) return askOwner(managed.model, managed.key, draft, reader, rollback)
    draft.add('add references', planPatch(managed, [], draft.now).command, ({ state, error, reason }) => {
      if (state === 'notWritten') rollback(reason === 'missing' || reason === 'guard' ? undefined : error)
      return state !== 'inDoubt'
    })
  }

  /** Takes the addition out again, and the companion with it unless others have added to it. One that is in doubt may not be there. */
  #rollback(key: RecordKey, draft: Draft, why: SkeinError, isCertain: boolean): void {
    const { model } = this.#managed
    const { bin } = this.counter
    draft.add('undo', removeUnlessShared(model, key, bin, this.by), ({ state, reason }) => {
      if (reason === 'guard' && isCertain)
        draft.add('undo', addToCompanion(model, key, bin, negative(this.by)), () => true)
      if (state === 'written' || (isCertain && state !== 'inDoubt')) this.#revert()
      return why
    })
  }

  confirm(): void {
    this.#shift(this.#shown)
    this.#managed.clearWriteOptions(this.#recorded)
  }

  /** Makes the addition pending again. */
  #revert(): void {
    this.#shift(negative(this.#shown))
    for (const option of this.#recorded) this.#managed.addWriteOptions(option)
  }

  #shift(by: Count): void {
    const { snapshot, mapped } = this.#managed
    if (snapshot !== undefined && Number(by) !== 0) mapped.codec.shift(snapshot, this.counter.name, by)
  }
}
