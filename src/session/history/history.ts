import { SkeinError } from '../../errors/index.js'
import type { Tenant } from '../../keys/index.js'
import { DELETING_BIN } from '../../model/index.js'
import { read, remove } from '../../plan/command.js'
import type { RecordKey } from '../../plan/record-key.js'
import { callOptions, type SessionContext } from '../context/session-context.js'
import { flushFailure } from '../flush/execute/flush-failure.js'
import { unmanagedEntity } from '../load/unmanaged-read.js'
import { UnmanagedReader } from '../load/unmanaged-reader.js'
import { restoreKey } from '../load/hydrator.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { historyKey, named, stateOf, statesIn, type RecordState } from './history-entry.js'

/** A state that a record had. */
export interface HistoryEntry<T> {
  readonly version: number
  /** When it was stored; undefined for a record that is older than its history and has no times. */
  readonly at: Date | undefined
  /** Person or program that stored it, as `open({ actor })` named them. */
  readonly by: string | undefined
  /** An instance that no session manages, with values and references; null where the record was deleted then. */
  readonly entity: T | null
}

/**
 * Earlier states of a record. Made by `session.history`.
 *
 * @example
 * for (const { at, by, entity } of await session.history(Contract, 'c1').entries()) console.log(at, by, entity?.terms)
 */
export class RecordHistory<T extends object> {
  readonly #mapped: MappedClass
  readonly #key: RecordKey
  readonly #context: SessionContext

  /** @internal */
  constructor(mapped: MappedClass, key: RecordKey, context: SessionContext) {
    this.#mapped = mapped
    this.#key = key
    this.#context = context
  }

  /** Earlier states, the latest first; the present one is not among them. One batch read. */
  async entries(): Promise<readonly HistoryEntry<T>[]> {
    const { past } = await this.#read()
    return past.reverse().map((state) => this.#entry(state))
  }

  /** The state that was stored at that time; null where there was none, or where it is older than all that is kept. One batch read. */
  async at(date: Date): Promise<HistoryEntry<T> | null> {
    if (!(date instanceof Date) || Number.isNaN(date.getTime()))
      throw new SkeinError('SKEIN_2321', 'history.at() was given no Date.', { fix: 'Give a Date.' })
    const { past, present } = await this.#read()
    const states = present === undefined ? past : [...past, present]
    const state = states.findLast(({ at }) => at <= date.getTime())
    return state === undefined ? null : this.#entry(state)
  }

  /** Removes what is kept; the record stays. True when there was something. */
  async delete(): Promise<boolean> {
    const { name, durableDelete } = this.#mapped.model
    const command = remove(name, historyKey(this.#mapped, this.#key), { durableDelete })
    const outcome = await this.#context.driver.runOne(command, callOptions(this.#context))
    if (outcome.state === 'written') return true
    if (outcome.reason === 'missing') return false
    throw flushFailure({ outcomes: [outcome], failed: [outcome] })
  }

  async #read(): Promise<{ past: RecordState[]; present: RecordState | undefined }> {
    const { name } = this.#mapped.model
    const commands = [
      read(name, this.#key, this.#mapped.ordinary.bins),
      read(name, historyKey(this.#mapped, this.#key)),
    ]
    const [record, history] = await this.#context.driver.read(commands, callOptions(this.#context))
    const isThere = record !== null && !(DELETING_BIN in record.bins)
    const present = isThere ? stateOf(named(this.#mapped), record.bins) : undefined
    const kept = history === null ? [] : statesIn(history.bins)
    // A change that was cut off has left what is still stored.
    const past = kept.filter(({ at, version }) => at !== present?.at || version !== present.version)
    return { past, present }
  }

  #entry({ at, by, version, bins }: RecordState): HistoryEntry<T> {
    const about = { version, at: at === 0 ? undefined : new Date(at), by: by ?? undefined }
    return { ...about, entity: bins === null ? null : this.#instance(bins) }
  }

  #instance(bins: NonNullable<RecordState['bins']>): T {
    const { classes, identity } = this.#context
    const tenant: Tenant | undefined = identity.tenant
    const entity = this.#mapped.codec.hydrate(bins) as T
    const own = classes.ofEntity(entity)
    const record = { bins, generation: 0, ttl: null }
    const reader = new UnmanagedReader(classes, tenant)
    if (own.relations.length > 0)
      unmanagedEntity(entity, own, this.#key, reader, record, { loaded: undefined, bins: Object.keys(bins) })
    restoreKey(own, entity, this.#key, tenant)
    return entity
  }
}
