import { DELETING_BIN } from '../../model/index.js'
import type { DeletedMode, DeletedOption, OutsideTransaction } from '../../model/index.js'
import { onlyIf, read, type ReadCommand } from '../../plan/command.js'
import type { Expression } from '../../plan/expression.js'
import type { FoundRecord, StoredRecord } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import { attachRelations, checkRelations, completeRelations, type ReadBins } from '../../relations/attach.js'
import type { Reader } from '../../relations/contract/reader.js'
import { byFirstStep } from '../../relations/read/split-paths.js'
import { rememberRelations } from '../../relations/state/snapshot-relations.js'
import { during, abortable } from '../context/activity.js'
import { checkDeleted, checkLoadOptions } from '../context/check-arguments.js'
import { readTotals } from '../counters/read-totals.js'
import { callHooks } from '../tracking/lifecycle-hooks.js'
import { Hydrator, isGone, type RelationHydration } from './hydrator.js'
import type { LoadReceiver } from './load-request.js'
import { KeyLoader } from './key-loader.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import { deletedAtOf } from '../tracking/soft-deleted.js'
import type { MappedClass, Projection } from '../mapping/mapped-class.js'
import { projectionOf, type OnlyItem, showing } from '../mapping/projection.js'
import { checkKind } from './check-kind.js'
import { checkPaths, leadToDeletable } from './check-paths.js'
import { callOptions, type SessionContext } from '../context/session-context.js'
import { gone, otherClass } from '../context/session-errors.js'
import { IndexQueries } from './index-queries.js'
import type { Loads } from './loads.js'
import { SameKeyLoader } from './same-key-loader.js'
import { SessionReader } from './session-reader.js'
import type { KeyInput } from '../context/session-types.js'
import type { WriteOptions } from '../tracking/write-options.js'

interface FindOptions extends OutsideTransaction, DeletedOption {
  /** Set where the session's own work waits for it. */
  readonly isOwn?: boolean
  readonly only?: readonly OnlyItem[]
  readonly with?: readonly string[]
  readonly signal?: AbortSignal
}

/** Everything a session reads. A session is cheap: what only some sessions need is made when it is needed. */
export class EntityLoader implements RelationHydration, Loads {
  readonly #context: SessionContext
  #hydration: Hydrator | undefined
  #keyLoader: KeyLoader | undefined
  #keyLoads: SameKeyLoader | undefined
  #reader: Reader | undefined

  constructor(context: SessionContext) {
    this.#context = context
  }

  /** For those who plan and load relations. */
  get reader(): Reader {
    return (this.#reader ??= new SessionReader(this.#context, this))
  }

  /** A reader for calls that may allow queries outside of the transaction. */
  readerFor({ outsideTransaction = false }: OutsideTransaction): Reader {
    return outsideTransaction ? this.reader.outside() : this.reader
  }

  /** A reader for a flush, which may read in a transaction. */
  flushReader(context: SessionContext): Reader {
    return new SessionReader(context, this, { isOwn: true })
  }

  get hydrator(): Hydrator {
    return (this.#hydration ??= new Hydrator(this.#context, this))
  }

  get #loader(): KeyLoader {
    return (this.#keyLoader ??= new KeyLoader(this.#context, this.hydrator))
  }

  get byKey(): SameKeyLoader {
    return (this.#keyLoads ??= new SameKeyLoader(this.#context, this.#loader))
  }

  check(managed: ManagedEntity, stored: ReadBins): void {
    checkRelations(managed, managed.mapped.relations, this.reader, stored)
  }

  complete(managed: ManagedEntity, stored: ReadBins): void {
    completeRelations(managed, managed.mapped.relations, this.reader, stored)
  }

  attach(managed: ManagedEntity, stored?: ReadBins): void {
    const { relations, hasEmbeddedRefs, model, codecs } = managed.mapped
    const { undo } = this.#context
    if (undo !== undefined && stored === undefined) {
      // An entity that was handed in outlives the session, so it must forget what a transaction that failed has stored and linked.
      undo.push(() => managed.forgetStored())
      if (relations.length > 0 || hasEmbeddedRefs) undo.push(rememberRelations(managed.entity, model, codecs.model))
    }
    if (relations.length === 0) return
    attachRelations(managed, relations, this.#readerOf(managed), stored)
  }

  /** Companions do not say which class their record is: while it is not read, it is asked along with them. */
  #readerOf(managed: ManagedEntity): Reader {
    const { discriminator, relations } = managed.model
    const isAsked = discriminator !== undefined && relations.some(({ companions }) => companions !== undefined)
    return isAsked ? new SessionReader(this.#context, this, { owner: managed }) : this.reader
  }

  /** The entity of that key as far as the session knows it; nothing is read. */
  unread(mapped: MappedClass, key: KeyInput): ManagedEntity {
    const record = mapped.recordKeyOf(key, this.#context.identity.tenant)
    const known = this.#context.identity.get(mapped, record.key)
    if (known !== undefined && !mapped.is(known.entity)) throw otherClass(mapped, known)
    if (known === undefined) checkKind(mapped)
    return known ?? this.unreadOf(mapped, record)
  }

  /** The unread entity of a record that is known to be of this class, not of a subclass. */
  unreadOf(mapped: MappedClass, key: RecordKey): ManagedEntity {
    return this.#context.identity.get(mapped, key.key) ?? this.hydrator.takeUnread(mapped, key)
  }

  /** Records that load as gone because their delete was cut off: they are still to be deleted. Undefined where there is none. */
  async cutOff(
    mapped: MappedClass,
    keys: readonly RecordKey[],
    signal?: AbortSignal,
  ): Promise<(ManagedEntity | undefined)[]> {
    const { name, discriminator } = mapped.model
    const bins = [DELETING_BIN, ...(discriminator === undefined ? [] : [discriminator.bin])]
    const commands = keys.map((key) => read(name, key, bins))
    const records = await this.#context.driver.read(commands, callOptions(this.#context, signal))
    return records.map((record, i) => {
      const isMarked = record !== null && DELETING_BIN in record.bins
      const own = isMarked ? this.#classOf(mapped, record.bins) : undefined
      return own === undefined ? undefined : this.unreadOf(own, keys[i])
    })
  }

  /** Undefined for a record of another class of the set. */
  #classOf(mapped: MappedClass, bins: Readonly<Record<string, unknown>>): MappedClass | undefined {
    const { discriminator } = mapped.model
    if (discriminator === undefined) return mapped
    const subclass = discriminator.subclasses.find(({ value }) => value === bins[discriminator.bin])
    return subclass && this.#context.classes.of(subclass.entity)
  }

  /** Loads one entity, or null, into the receiver. */
  findOne(mapped: MappedClass, key: KeyInput, options: FindOptions | undefined, receiver: LoadReceiver): void {
    const { classes, identity } = this.#context
    if (options === undefined && !classes.hasEager) {
      return this.#loader.findOne(mapped, mapped.recordKeyOf(key, identity.tenant), mapped.ordinary, receiver)
    }
    checkLoadOptions(options)
    this.find(mapped, [key], options).then(
      ([found]) => receiver.loaded(found, 0),
      (error: unknown) => receiver.failed(error),
    )
  }

  /** Entities in the order of the keys, null where there is none, with the relations that are asked for. */
  async find(
    mapped: MappedClass,
    keys: readonly KeyInput[],
    options: FindOptions = {},
  ): Promise<(ManagedEntity | null)[]> {
    const { only, with: paths, signal, deleted, isOwn } = options
    signal?.throwIfAborted()
    const { classes, identity } = this.#context
    const records = keys.map((key) => mapped.recordKeyOf(key, identity.tenant))
    if (paths !== undefined) checkPaths(mapped, paths, classes)
    if (deleted !== 'include' || paths === undefined || !leadToDeletable(mapped, paths, classes))
      checkDeleted(mapped, deleted)
    if (paths !== undefined || classes.hasEager) {
      const found = during(this.#context.reading, () => this.#findGraph(mapped, records, options))
      return abortable(found, signal)
    }
    const projection = showing(projectionOf(mapped, only), deleted)
    return abortable(this.#loader.findAll(mapped, records, projection, signal, isOwn), signal)
  }

  async #findGraph(
    mapped: MappedClass,
    keys: readonly RecordKey[],
    options: FindOptions,
  ): Promise<(ManagedEntity | null)[]> {
    const { only, with: paths = [], deleted, signal, isOwn } = options
    const found = await this.byKey.find(mapped, keys, paths, { only, deleted, signal, isOwn })
    const level = new Set(found.filter((managed) => managed !== null))
    const reader = this.readerFor(options)
    await (deleted === undefined ? reader : reader.withDeleted()).load([...level], paths)
    return found
  }

  /** The entity that the session has of a record, read or not. */
  has(mapped: MappedClass, key: RecordKey): ManagedEntity | undefined {
    return this.#context.identity.get(mapped, key.key)
  }

  /** Entities of records in the order of the keys; null where there is none, or one for which the filter does not hold. */
  async findWhere(
    mapped: MappedClass,
    keys: readonly RecordKey[],
    filter: Expression | undefined,
    deleted?: DeletedMode,
  ): Promise<(ManagedEntity | null)[]> {
    if (filter === undefined) return this.byKey.find(mapped, keys, [], { deleted })
    const { name } = mapped.model
    const { moment } = this.#context.identity
    const projection = showing(projectionOf(mapped), deleted)
    const records = await this.reader.read(keys.map((key) => onlyIf(read(name, key, projection.bins), filter)))
    const keyed = keys.flatMap((key, i) => (records[i] === null ? [] : [{ key, record: records[i] }]))
    const { found } = await new IndexQueries(this.#context, this).takeKeyed(mapped, keyed, projection, moment)
    const byKey = new Map((found as readonly ManagedEntity[]).map((each) => [recordId(each.key), each]))
    return keys.map((key) => byKey.get(recordId(key)) ?? null)
  }

  again(mapped: MappedClass, keys: readonly RecordKey[], projection: Projection): Promise<(ManagedEntity | null)[]> {
    return this.#loader.findAll(mapped, keys, projection)
  }

  /** Entities of records that a query found which began at that moment, with the relations that the paths name; those that the session deletes are left out. */
  async taken(
    mapped: MappedClass,
    records: readonly FoundRecord[],
    begun: number,
    { only, with: paths = [], outsideTransaction, deleted }: FindOptions,
  ): Promise<readonly object[]> {
    const projection = showing(projectionOf(mapped, only, [...byFirstStep(paths).keys()]), deleted)
    const { found } = await new IndexQueries(this.#context, this).take(mapped, records, projection, begun)
    if (found.length > 0 && (paths.length > 0 || this.#context.classes.hasEager)) {
      const reader = this.readerFor({ outsideTransaction })
      await (deleted === undefined ? reader : reader.withDeleted()).load(found, paths)
    }
    return found.map(({ entity }) => entity)
  }

  async #readWhole(
    { mapped }: ManagedEntity,
    command: ReadCommand,
    signal: AbortSignal | undefined,
  ): Promise<StoredRecord | null> {
    const { driver } = this.#context
    const options = callOptions(this.#context, signal)
    if (mapped.shards === undefined) return driver.readOne(command, options)
    const [record] = await readTotals(driver, mapped, [command], undefined, options)
    return record
  }

  /** Reads the entity again; write options that were asked for before are dropped like any other change. */
  async refresh(
    managed: ManagedEntity,
    before: readonly WriteOptions[] | undefined,
    signal?: AbortSignal,
  ): Promise<void> {
    const command = read(managed.model.name, managed.key)
    const record = await this.#readWhole(managed, command, signal)
    const shown = deletedAtOf(managed) === undefined ? undefined : 'include'
    if (isGone(record) || !managed.mapped.shows(record.bins, shown)) throw gone(managed)
    this.hydrator.refresh(managed, record)
    managed.clearWriteOptions(before)
    await callHooks('afterLoad', [managed])
  }
}
