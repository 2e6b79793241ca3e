import { writeProperty } from '../codec/index.js'
import type { RawOperation } from '../driver/aerospike-client.js'
import { problemOf } from '../driver/check-raw-operation.js'
import { rawKind, rawOperation } from '../driver/raw-operations.js'
import { SkeinError } from '../errors/index.js'
import { describeKey } from '../keys/index.js'
import { DELETING_BIN, deletedBinOf } from '../model/index.js'
import {
  onlyIf,
  read,
  stillThere,
  whileThere,
  write,
  type Bins,
  type Guard,
  type Ttl,
  type WriteCommand,
} from '../plan/command.js'
import { resultName } from '../plan/effects.js'
import { and } from '../plan/expression.js'
import type { ReadOperation, WriteOperation } from '../plan/operation.js'
import type { Outcome } from '../plan/outcome.js'
import type { RecordKey } from '../plan/record-key.js'
import type { Reader } from '../relations/contract/reader.js'
import { abortable } from './context/activity.js'
import { callOptions, type SessionContext } from './context/session-context.js'
import { anotherClass, notFound } from './context/session-errors.js'
import { flushFailure } from './flush/execute/flush-failure.js'
import { forgetLoaded } from './forget-loaded.js'
import { madeNow } from './history/history-entry.js'
import { patchStamps } from './flush/plan/patch.js'
import { checkTtl } from './flush/plan/record-write.js'
import type { MappedClass } from './mapping/mapped-class.js'
import type { ManagedEntity } from './tracking/managed-entity.js'
import { recordedChanges } from './tracking/write-options.js'

/** Options of `session.operate`. */
export interface OperateOptions {
  /** Twice is the same as once: it is sent again when its answer was lost. */
  readonly idempotent?: boolean
  /** Seconds that the record lives from now on, or `'never'`. */
  readonly ttl?: Exclude<Ttl, 'keep'>
  readonly signal?: AbortSignal
}

/** Results of the operations by bin, as the client returns them. */
export type OperateResults = { readonly [bin: string]: unknown }

/** Operations of the official client on one record of a session. */
export class RawCall {
  readonly #mapped: MappedClass
  readonly #key: RecordKey
  readonly #operations: readonly (ReadOperation | WriteOperation)[]
  readonly #options: OperateOptions

  constructor(mapped: MappedClass, key: RecordKey, operations: readonly RawOperation[], options: OperateOptions) {
    this.#mapped = mapped
    this.#key = key
    this.#options = options
    checkOperations(mapped, key, operations)
    this.#operations = operations.map((one) => rawOperation(one, options.idempotent === true))
    if (options.ttl !== undefined) checkTtl({ mapped }, options.ttl)
  }

  get #changedBins(): ReadonlySet<string> {
    return new Set(this.#operations.flatMap((one) => (one.kind === 'rawWrite' && one.bin !== '' ? [one.bin] : [])))
  }

  get #isRead(): boolean {
    return this.#options.ttl === undefined && this.#operations.every(({ kind }) => kind === 'rawRead')
  }

  async run(known: ManagedEntity | undefined, context: SessionContext, reader: () => Reader): Promise<OperateResults> {
    if (known !== undefined) this.#checkUnsent(known)
    if (this.#isRead) return this.#ask(context, reader())
    const loaded = known !== undefined && !known.isUnread && known.state === 'stored' ? known : undefined
    const now = new Date()
    const outcome = await context.driver.runOne(
      this.#writes(loaded, now, context),
      callOptions(context, this.#options.signal),
    )
    if (outcome.state !== 'written')
      throw flushFailure({ outcomes: [outcome], failed: [outcome] }, this.#options.signal)
    if (loaded !== undefined) this.#taken(loaded, outcome, now)
    return outcome.bins
  }

  /** Reads along with what else the session reads in this tick. */
  async #ask(context: SessionContext, reader: Reader): Promise<OperateResults> {
    const { model, codec } = this.#mapped
    const { signal } = this.#options
    signal?.throwIfAborted()
    const question = read(model.name, this.#key, 'none', this.#operations as readonly ReadOperation[])
    const filters = this.#guards.flatMap((guard) => (guard.kind === 'filter' ? [guard.expression] : []))
    const command =
      filters.length === 0 ? question : onlyIf(question, filters.length === 1 ? filters[0] : and(...filters))
    const [record] = await abortable(reader.read([command]), signal)
    if (record !== null) return this.#own(record.bins)
    if (this.#mapped.classGuards.length > 0) {
      const there = onlyIf(read(model.name, this.#key, 'none'), stillThere(model))
      const any = await context.driver.readOne(there, callOptions(context, signal))
      if (any !== null) throw anotherClass(this.#mapped, this.#key)
    }
    throw notFound(this.#mapped, [codec.key.scheme.fromStored(this.#key.key, context.identity.tenant)])
  }

  /** Results of these operations: one command may have answered others along with them. */
  #own(bins: Bins): OperateResults {
    const names = new Set(this.#operations.map(resultName))
    return Object.fromEntries(Object.entries(bins).filter(([name, value]) => names.has(name) && value !== null))
  }

  get #guards(): readonly Guard[] {
    const { standsAlone, classGuards, model } = this.#mapped
    const isAnyThere = standsAlone && model.deletedAt === undefined
    return isAnyThere ? classGuards : [...classGuards, whileThere(model)]
  }

  #writes(loaded: ManagedEntity | undefined, now: Date, { actor }: SessionContext): WriteCommand {
    const { model, codec } = this.#mapped
    const stamp =
      loaded === undefined
        ? { operations: patchStamps(this.#mapped, now), guards: [] }
        : codec.stamps.update(loaded.version, now)
    const { seconds, onUpdate } = model.ttl
    const made = model.history === undefined ? [] : [madeNow(now, actor?.())]
    return write(model.name, this.#key, [...this.#operations, ...stamp.operations, ...made], {
      exists: 'mustExist',
      guards: [...this.#guards, ...stamp.guards],
      ttl: this.#options.ttl ?? (onUpdate === 'refresh' ? seconds : 'keep'),
    })
  }

  /** Marks the changed properties as not loaded, so that no stale value is written back. */
  #taken(loaded: ManagedEntity, { generation }: Outcome, now: Date): void {
    const { model, mapped, entity, version } = loaded
    const stale = new Set(mapped.codec.propertiesIn(this.#changedBins))
    forgetLoaded(loaded, stale, model.version === undefined ? undefined : (version ?? 0) + 1)
    mapped.codec.stamps.updated(entity, version, now)
    if (model.generationProperty !== undefined && generation !== undefined)
      writeProperty(entity, model.generationProperty, generation)
  }

  #checkUnsent(known: ManagedEntity): void {
    const { entity, snapshot, mapped } = known
    const changed = snapshot === undefined ? [] : mapped.codec.changedProperties(entity, snapshot)
    const unsent = new Set([...changed, ...recordedChanges(known).map(({ property }) => property)])
    const touched = mapped.codec.propertiesIn(this.#changedBins).find((name) => unsent.has(name))
    if (touched === undefined) return
    throw refused(mapped, this.#key, `'${touched}' has changes that were not sent yet`, 'Flush first.', touched)
  }
}

function checkOperations(mapped: MappedClass, key: RecordKey, operations: readonly unknown[]): void {
  if (!Array.isArray(operations) || operations.length === 0)
    throw refused(mapped, key, 'there is no operation', 'Give a list of operations of the official client.')
  const { version, discriminator } = mapped.model
  const own = new Set([
    ...mapped.codec.binsOf([]),
    mapped.binOf(version),
    discriminator?.bin,
    deletedBinOf(mapped.model),
    ...mapped.model.properties.flatMap(({ bin, copy }) => (copy === undefined ? [] : [bin])),
  ])
  for (const one of operations as readonly unknown[]) {
    const kind = rawKind(one)
    if (kind === 'none')
      throw refused(mapped, key, 'this is not an operation', 'Make it with the modules of the official client.')
    const problem = problemOf(one as object)
    if (problem !== undefined) throw refused(mapped, key, problem.why, problem.fix)
    if (kind === 'delete') throw refused(mapped, key, 'it would leave links behind', 'Use session.delete.')
    const { bin } = one as { readonly bin?: unknown }
    if (bin !== undefined && (typeof bin !== 'string' || bin === '' || Buffer.byteLength(bin) > 15))
      throw refused(mapped, key, 'its bin has no name that a bin can have', 'Give a string of 1 to 15 bytes.')
    if (kind === 'write' && bin !== undefined && (own.has(bin) || bin === DELETING_BIN))
      throw refused(mapped, key, `the bin '${bin}' belongs to Skein`, 'Leave out key, version and discriminator.')
    const fixed = kind === 'write' ? mapped.immutable.find((property) => property.bin === bin)?.name : undefined
    if (fixed !== undefined)
      throw refused(mapped, key, `${fixed} never changes once it is stored`, 'Leave it out.', fixed)
  }
}

function refused(mapped: MappedClass, { key }: RecordKey, why: string, fix: string, property?: string): SkeinError {
  const { name: className } = mapped.model
  const message = `The operations on ${className} ${describeKey(key)} were not sent: ${why}.`
  return new SkeinError('SKEIN_2332', message, { className, property, key, fix })
}
