import type { Driver } from '../../driver/driver.js'
import type { SkeinError } from '../../errors/index.js'
import { describeKey, type KeyValue, type Tenant } from '../../keys/index.js'
import { COMPANION_ROOT_BIN, COMPANION_SHARD_BIN } from '../../model/index.js'
import { read, remove } from '../../plan/command.js'
import type { FoundRecord, Outcome } from '../../plan/outcome.js'
import { query } from '../../plan/query-command.js'
import { recordKey, showKey, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Finding, FindingState } from '../../relations/contract/finding.js'
import type { Reading } from '../../relations/verify/judge.js'
import { ABOUT_RECORD, readingOf } from '../../relations/verify/read-ends.js'
import type { VerifyTerms } from '../../relations/verify/verify-access.js'
import { companionOf, type ShardedCounter } from '../../relations/write/counter-companions.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { areArchived, leftByMove } from './archive-verifier.js'

/** Companions checked together: their records are read in one batch. */
const GROUP = 100

/** A companion record, and the record that it says it belongs to. */
interface Companion {
  readonly counter: ShardedCounter
  readonly key: RecordKey
  readonly shard: number
  readonly root: RecordKey
  readonly rootKey: KeyValue
}

/** Checks the companion records of sharded counters: their record must exist, and their shard must be one that is read. */
export class CompanionVerifier {
  readonly #mapped: MappedClass
  readonly #driver: Driver
  readonly #terms: VerifyTerms
  readonly #tenant: Tenant | undefined
  readonly #signal: AbortSignal | undefined
  /** Companions that were not judged because they had changed too recently. */
  unsettled = 0
  records = 0

  constructor(
    mapped: MappedClass,
    driver: Driver,
    terms: VerifyTerms,
    tenant: Tenant | undefined,
    signal: AbortSignal | undefined,
  ) {
    this.#mapped = mapped
    this.#driver = driver
    this.#terms = terms
    this.#tenant = tenant
    this.#signal = signal
  }

  async *check(): AsyncGenerator<Finding> {
    for (const counter of this.#mapped.shards?.counters ?? []) {
      const { name: entity, namespace } = this.#mapped.model
      const bins = [COMPANION_ROOT_BIN, COMPANION_SHARD_BIN]
      const command = query({ entity, namespace, set: counter.set, bins })
      for await (const records of this.#driver.query(command, { signal: this.#signal })) {
        for (let i = 0; i < records.length; i += GROUP) {
          const group = records.slice(i, i + GROUP)
          yield* this.#checkGroup(group.flatMap((record) => this.#companionIn(record, counter) ?? []))
          this.records += group.length
        }
      }
    }
  }

  /** Undefined for one of another tenant, and for a record that is not a companion. */
  #companionIn({ bins }: FoundRecord, counter: ShardedCounter): Companion | undefined {
    const [stored, shard] = [bins[COMPANION_ROOT_BIN], bins[COMPANION_SHARD_BIN]]
    if (stored === undefined || typeof shard !== 'number') return undefined
    const { model, codec } = this.#mapped
    const root = recordKey(model.namespace, model.set, stored as UserKey)
    try {
      const rootKey = codec.key.scheme.fromStored(root.key, this.#tenant)
      return { counter, key: companionOf(root, counter, shard), shard, root, rootKey }
    } catch (error) {
      if ((error as SkeinError).code === 'SKEIN_2104') return undefined
      throw error
    }
  }

  async *#checkGroup(companions: readonly Companion[]): AsyncGenerator<Finding> {
    for (const companion of companions) if (companion.shard >= companion.counter.shards) yield this.#unread(companion)
    const records = await this.#readings(companions.map(({ root }) => root))
    const missed = companions.filter((_, i) => !records[i].exists)
    if (missed.length === 0) return
    const suspects = await this.#released(missed)
    // A companion is made before its record is asked for, so it is the companion that is read last.
    const again = await this.#readings(suspects.map(({ key }) => key))
    const still = await this.#readings(suspects.map(({ root }) => root))
    const roots = suspects.map(({ root }) => root)
    const archived = await areArchived(this.#mapped.model, roots, (commands) => this.#driver.read(commands))
    for (const [i, suspect] of suspects.entries()) {
      if (!again[i].exists || still[i].exists) continue
      if (archived[i]) {
        yield leftByMove(this.#mapped.model, suspect.counter.name, suspect.rootKey, suspect.key)
        continue
      }
      if (again[i].age < this.#terms.settle) this.unsettled++
      else yield await this.#withoutRoot(suspect, again[i])
    }
  }

  /** Leaves out those of which a transaction still holds either record. */
  async #released(companions: readonly Companion[]): Promise<Companion[]> {
    const entity = this.#mapped.model.name
    const held = await this.#driver.areHeld(
      companions.flatMap(({ key, root }) => [
        { entity, key },
        { entity, key: root },
      ]),
    )
    const released = companions.filter((_, i) => !held[2 * i] && !held[2 * i + 1])
    this.unsettled += companions.length - released.length
    return released
  }

  async #readings(keys: readonly RecordKey[]): Promise<Reading[]> {
    this.#signal?.throwIfAborted()
    const commands = keys.map((key) => read(this.#mapped.model.name, key, 'none', ABOUT_RECORD))
    return (await this.#driver.read(commands)).map((record) => readingOf(record))
  }

  async #withoutRoot(companion: Companion, { generation }: Reading): Promise<Finding> {
    const { name, durableDelete } = this.#mapped.model
    const { rootKey, key } = companion
    const described = {
      kind: 'companionWithoutRoot',
      ...this.#about(companion),
      repair: 'remove',
      message: `${showKey(key)} counts for ${name} ${describeKey(rootKey)}, which has no record.`,
    } as const
    if (!this.#terms.repair) return { ...described, state: 'found' }
    // A record that was made meanwhile, and what was added to this companion since, must not be lost.
    const [outcome] = await this.#driver.run([remove(name, key, { generation, durableDelete })])
    return { ...described, state: stateOf(outcome), ...(outcome.error === undefined ? {} : { error: outcome.error }) }
  }

  #unread(companion: Companion): Finding {
    const { name } = this.#mapped.model
    const { counter, key, shard } = companion
    return {
      kind: 'unreadCompanion',
      ...this.#about(companion),
      repair: 'none',
      state: 'found',
      message: `${showKey(key)} is shard ${shard} of ${name}.${counter.name}, which is read in ${counter.shards} shards; use at least ${shard + 1}.`,
    }
  }

  #about({ counter, rootKey }: Companion): Pick<Finding, 'className' | 'property' | 'key' | 'truth'> {
    const { name } = this.#mapped.model
    return { className: name, property: counter.name, key: rootKey, truth: name }
  }
}

function stateOf({ state, reason }: Outcome): FindingState {
  if (state === 'written') return 'repaired'
  return reason === 'generation' || reason === 'missing' ? 'leftAlone' : 'failed'
}
