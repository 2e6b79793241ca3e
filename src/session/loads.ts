import { DELETING_BIN } from '../model/index.js'
import type { OutsideTransaction } from '../model/index.js'
import { read } from '../plan/command.js'
import type { RecordKey } from '../plan/record-key.js'
import { attachRelations, checkRelations, completeRelations, type ReadBins } from '../relations/attach.js'
import type { Reader } from '../relations/contributor.js'
import { rememberRelations } from '../relations/remember-relations.js'
import { abortable } from './abortable.js'
import { during } from './activity.js'
import { checkLoadOptions } from './check-calls.js'
import { callHooks } from './hooks.js'
import { Hydrator, isGone, type RelationHydration } from './hydrator.js'
import { KeyLoads } from './key-loads.js'
import type { LoadReceiver } from './load-request.js'
import { Loader } from './loader.js'
import type { Managed } from './managed.js'
import type { MappedClass } from './mapped-class.js'
import { projectionOf } from './projection.js'
import { checkPaths } from './relation-paths.js'
import { callOptions, type SessionContext } from './session-context.js'
import { gone, unknownKind } from './session-errors.js'
import { SessionQueries } from './session-queries.js'
import { SessionReader } from './session-reader.js'
import type { KeyInput } from './session-types.js'
import { dropWishes, type Wish } from './wish.js'

interface FindOptions extends OutsideTransaction {
  readonly only?: readonly string[]
  readonly with?: readonly string[]
  readonly signal?: AbortSignal
}

/** Everything a session reads. A session is cheap: what not every one needs is made when it is needed. */
export class Loads implements RelationHydration {
  readonly #context: SessionContext
  readonly #hydrator: Hydrator
  readonly #loader: Loader
  #keyLoads: KeyLoads | undefined
  #reader: Reader | undefined

  constructor(context: SessionContext) {
    this.#context = context
    this.#hydrator = new Hydrator(context, this)
    this.#loader = new Loader(context, this.#hydrator)
  }

  /** For those who plan and load relations. */
  get reader(): Reader {
    return (this.#reader ??= this.readerIn(this.#context))
  }

  /** The same, for one who may have asked for queries outside of the transaction. */
  readerFor({ outsideTransaction = false }: OutsideTransaction): Reader {
    return outsideTransaction ? this.reader.outside() : this.reader
  }

  /** The same, for one who reads in a transaction. */
  readerIn(context: SessionContext): Reader {
    return new SessionReader(context, this.#byKey, new SessionQueries(context, this.#hydrator), this.#hydrator)
  }

  get #byKey(): KeyLoads {
    return (this.#keyLoads ??= new KeyLoads(this.#context, this.#loader))
  }

  check(managed: Managed, stored: ReadBins): void {
    checkRelations(managed, managed.mapped.relations, this.reader, stored)
  }

  complete(managed: Managed, stored: ReadBins): void {
    completeRelations(managed, managed.mapped.relations, this.reader, stored)
  }

  attach(managed: Managed, stored?: ReadBins): void {
    const { relations } = managed.mapped
    const { undo } = this.#context
    if (undo !== undefined && stored === undefined) {
      // An entity that was handed in outlives the session, so it must forget what a transaction that failed has stored and linked.
      undo.push(() => void (managed.snapshot = undefined))
      if (relations.length > 0) undo.push(rememberRelations(managed.entity, relations))
    }
    if (relations.length === 0) return
    attachRelations(managed, relations, this.reader, stored)
  }

  /** The entity of that key as far as the session knows it; nothing is read. */
  unread(mapped: MappedClass, key: KeyInput): Managed {
    const record = mapped.recordKeyOf(key, this.#context.identity.tenant)
    const known = this.#context.identity.get(mapped, record.key)
    if (known === undefined && mapped.model.discriminator !== undefined) throw unknownKind(mapped)
    return known ?? this.unreadOf(mapped, record)
  }

  /** The same for a record that is known to be of this class, and of no subclass of it. */
  unreadOf(mapped: MappedClass, key: RecordKey): Managed {
    return this.#context.identity.get(mapped, key.key) ?? this.#hydrator.takeUnread(mapped, key)
  }

  /** Records that load as gone because their delete was cut off: they are still to be deleted. Undefined where there is none. */
  async cutOff(
    mapped: MappedClass,
    keys: readonly RecordKey[],
    signal?: AbortSignal,
  ): Promise<(Managed | undefined)[]> {
    const { name, discriminator } = mapped.model
    const bins = [DELETING_BIN, ...(discriminator === undefined ? [] : [discriminator.bin])]
    const commands = keys.map((key) => read(name, key, bins))
    const records = await this.#context.driver.read(commands, callOptions(this.#context, signal))
    return records.map((record, i) => {
      const isMarked = record !== null && DELETING_BIN in record.bins
      const own = isMarked ? this.#classOf(mapped, record.bins) : undefined
      if (own === undefined) return undefined
      const managed = this.unreadOf(own, keys[i])
      managed.removeAny = true
      return managed
    })
  }

  /** Undefined for a record of another class of the set. */
  #classOf(mapped: MappedClass, bins: Readonly<Record<string, unknown>>): MappedClass | undefined {
    const { discriminator } = mapped.model
    if (discriminator === undefined) return mapped
    const subclass = discriminator.subclasses.find(({ value }) => value === bins[discriminator.bin])
    return subclass && this.#context.classes.of(subclass.entity)
  }

  /** One entity, or null, told to the receiver. */
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
  async find(mapped: MappedClass, keys: readonly KeyInput[], options: FindOptions = {}): Promise<(Managed | null)[]> {
    const { only, with: paths, signal } = options
    signal?.throwIfAborted()
    const { classes, identity } = this.#context
    const records = keys.map((key) => mapped.recordKeyOf(key, identity.tenant))
    if (paths !== undefined) checkPaths(mapped, paths, classes)
    if (paths !== undefined || classes.hasEager) {
      const found = during(this.#context.reading, () => this.#findGraph(mapped, records, options))
      return abortable(found, signal)
    }
    const projection = projectionOf(mapped, only)
    return abortable(this.#loader.findAll(mapped, records, projection), signal)
  }

  async #findGraph(mapped: MappedClass, keys: readonly RecordKey[], options: FindOptions): Promise<(Managed | null)[]> {
    const { only, with: paths = [] } = options
    const found = await this.#byKey.find(mapped, keys, paths, only)
    const level = new Set(found.filter((managed) => managed !== null))
    await this.readerFor(options).load([...level], paths)
    return found
  }

  /** What was wished for before is forgotten like any other change. */
  async refresh(managed: Managed, wishes: readonly Wish[] | undefined, signal?: AbortSignal): Promise<void> {
    const command = read(managed.model.name, managed.key)
    const record = await this.#context.driver.readOne(command, callOptions(this.#context, signal))
    if (isGone(record)) throw gone(managed)
    this.#hydrator.refresh(managed, record)
    dropWishes(managed, wishes)
    await callHooks('afterLoad', [managed])
  }
}
