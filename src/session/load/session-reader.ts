import { keyOfStoredRef } from '../../codec/index.js'
import { splitAccess } from '../../driver/split-access.js'
import type { KeyValue } from '../../keys/index.js'
import type { DeletedMode, EntityModel } from '../../model/index.js'
import { ofClass, onlyIf, read, type ReadCommand } from '../../plan/command.js'
import { and } from '../../plan/expression.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import { isKnown } from '../copies/copy-contributor.js'
import type { CopyLink, CopyLinks } from '../copies/copy-links.js'
import type { CompleteWrite } from '../../plan/draft.js'
import { checkResultNames } from '../../plan/effects.js'
import type { SplitAccess } from '../../plan/split-access.js'
import type { Tracked } from '../../relations/contract/tracked.js'
import type { FoundPage, FoundStep, Reader } from '../../relations/contract/reader.js'
import type { IndexedBy } from '../../relations/contract/index-lookup.js'
import { during } from '../context/activity.js'
import type { Loads, ReaderOptions } from './loads.js'
import { populate } from './populate.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { managedOf } from '../tracking/identity-map.js'
import { tickOf, RawReadBatcher } from './read-batcher.js'
import type { SessionContext } from '../context/session-context.js'
import { classOfKey, findClass, findInClasses, keyInTarget, recordOfKey } from '../mapping/several-classes.js'
import { IndexQueries } from './index-queries.js'

/** The session as those see it that plan and load relations. */
export class SessionReader implements Reader {
  readonly #context: SessionContext
  readonly #loads: Loads
  readonly #options: ReaderOptions
  #indexQueries: IndexQueries | undefined
  #batcher: RawReadBatcher | undefined

  constructor(context: SessionContext, loads: Loads, options: ReaderOptions = {}) {
    this.#context = context
    this.#loads = loads
    this.#options = options
  }

  get #queries(): IndexQueries {
    return (this.#indexQueries ??= new IndexQueries(this.#context, this.#loads, this.#options))
  }

  get #together(): RawReadBatcher {
    return (this.#batcher ??= new RawReadBatcher(tickOf(this.#context), this.#context.identity))
  }

  get isInside(): boolean {
    return this.#context.transaction !== undefined
  }

  get deleted(): DeletedMode | undefined {
    return this.#options.deleted
  }

  get direct(): SplitAccess {
    const { driver, transactions } = this.#context
    return splitAccess(driver, transactions !== 'off')
  }

  get complete(): CompleteWrite | undefined {
    const { counts, copies } = this.#context.classes
    if (copies === undefined) return counts?.complete
    const complete = copies.completing((link, key) => this.#knownCopy(copies, link, key))
    return counts === undefined ? complete : (command) => complete(counts.complete(command))
  }

  #knownCopy(copies: CopyLinks, link: CopyLink, key: UserKey): Value | undefined {
    const { classes, identity } = this.#context
    const source = identity.get(classes.of(link.source.name), key)
    return source === undefined || !isKnown(source, link)
      ? undefined
      : (copies.valueOf(link, source.entity) ?? undefined)
  }

  get actor(): (() => string | undefined) | undefined {
    return this.#context.actor
  }

  outside(): Reader {
    if (this.#context.refusesQueries !== true) return this
    return new SessionReader(
      { ...this.#context, driver: this.#context.driver, refusesQueries: false },
      this.#loads,
      this.#options,
    )
  }

  withDeleted(mode: DeletedMode = 'include'): Reader {
    return new SessionReader(this.#context, this.#loads, { ...this.#options, deleted: mode })
  }

  find(model: EntityModel, keys: readonly KeyValue[], along?: readonly string[]): Promise<(Tracked | null)[]> {
    const { classes } = this.#context
    if (model.several === undefined) return this.#find(classes.of(model.name), keys, along)
    return findInClasses(classes, model, keys, (mapped, own) => this.#find(mapped, own, along))
  }

  async #find(mapped: MappedClass, keys: readonly KeyValue[], along?: readonly string[]): Promise<(Tracked | null)[]> {
    const records = keys.map((key) => mapped.recordKeyOf(key, this.#context.identity.tenant))
    const { deleted, isOwn } = this.#options
    const found = await this.#loads.byKey.find(mapped, records, along, { deleted, isOwn })
    const { elsewhere } = this.#context
    if (elsewhere === undefined || mapped.model.archive === undefined || !found.includes(null)) return found
    const missing = keys.filter((_, i) => found[i] === null)
    const others = (await elsewhere(mapped.model.name, missing, along, deleted)).values()
    return found.map((each) => each ?? (others.next().value as Tracked | null))
  }

  load(level: readonly Tracked[], paths: readonly string[] = []): Promise<void> {
    return during(this.#context.reading, () => populate(level, paths, this.#context.classes, this))
  }

  read(commands: readonly ReadCommand[]): Promise<(StoredRecord | null)[]> {
    if (commands.length === 0) return Promise.resolve([])
    commands.forEach(checkResultNames)
    const own = commands.map((command) => this.#ofClass(command))
    const { owner } = this.#options
    if (owner?.isUnread !== true || !own.some((command) => isCompanion(owner, command))) return this.#together.read(own)
    return this.#readOwned(owner, own)
  }

  /** Companions of a record of another class count as missing, as the record does; it is asked along with them. */
  async #readOwned(owner: Tracked, commands: readonly ReadCommand[]): Promise<(StoredRecord | null)[]> {
    const root = this.#ofClass(read(owner.model.name, owner.key, 'none'))
    const [there, ...records] = await this.#together.read([root, ...commands])
    return there === null ? records.map((record, i) => (isCompanion(owner, commands[i]) ? null : record)) : records
  }

  /** A record that was not read may be one of another class of its set, and counts as missing then. */
  #ofClass(command: ReadCommand): ReadCommand {
    const { classes, identity } = this.#context
    const mapped = classes.of(command.entity)
    if (mapped.model.discriminator === undefined || command.key.set !== mapped.model.set) return command
    const known = identity.get(mapped, command.key.key)
    const isOfClass = known?.isUnread === true ? ofClass(known.model) : undefined
    if (isOfClass === undefined) return command
    return onlyIf(command, command.filter === undefined ? isOfClass : and(command.filter, isOfClass))
  }

  foundBy(lookup: IndexedBy): AsyncIterable<FoundStep> {
    return this.#queries.found(lookup)
  }

  keysBy(lookup: IndexedBy): AsyncIterable<readonly KeyValue[]> {
    return this.#queries.keys(lookup)
  }

  pageBy(lookup: IndexedBy, count: number, after?: string): Promise<FoundPage> {
    return this.#queries.page(lookup, count, after)
  }

  release(entities: readonly Tracked[]): void {
    this.#queries.release(entities)
  }

  hasTransactions({ namespace }: EntityModel): boolean {
    return this.#context.driver.capabilities.namespaces[namespace]?.transactions === true
  }

  startAnew(tracked: Tracked): void {
    this.#loads.hydrator.startAnew(tracked as ManagedEntity)
  }

  entityModel(name: string): EntityModel {
    return this.#context.classes.target(name)
  }

  tracked(entity: object): Tracked | undefined {
    const managed = managedOf(entity)
    return managed?.home === this.#context.identity && managed.state !== 'gone' ? managed : undefined
  }

  isDetached(entity: object): boolean {
    const managed = managedOf(entity)
    return managed?.state === 'gone' && managed.snapshot !== undefined
  }

  known(model: string, key: KeyValue): Tracked | undefined {
    const { classes, identity } = this.#context
    const target = classes.target(model)
    const located = target.several === undefined ? { mapped: classes.of(model), key } : findClass(classes, target, key)
    return located && identity.get(located.mapped, located.mapped.recordKey(located.key, identity.tenant).key)
  }

  unread(model: EntityModel, key: KeyValue): Tracked {
    const { classes, identity } = this.#context
    const { mapped, key: own } = classOfKey(classes, model, key)
    const record = mapped.recordKeyOf(own, identity.tenant)
    return identity.get(mapped, record.key) ?? this.#loads.hydrator.takeUnread(mapped, record)
  }

  whenKnown(model: string, key: KeyValue, then: (entity: object) => void): void {
    const { classes, identity } = this.#context
    const { mapped, key: own } = classOfKey(classes, classes.model.entity(model), key)
    identity.await(mapped, mapped.recordKeyOf(own, identity.tenant).key, then)
  }

  keyOf(entity: object, target?: string): KeyValue | null {
    const { classes, identity } = this.#context
    const mapped = classes.ofEntity(entity)
    const managed = managedOf(entity)
    const key =
      managed !== undefined && managed.state !== 'gone'
        ? mapped.codec.key.scheme.fromStored(managed.key.key, identity.tenant)
        : mapped.codec.key.tryKeyOf(entity)
    if (key === null || target === undefined) return key
    const to = classes.target(target)
    return to.several === undefined ? key : keyInTarget({ mapped, key }, to)
  }

  recordKey(model: EntityModel, key: KeyValue): RecordKey {
    const { classes, identity } = this.#context
    return model.several === undefined
      ? classes.of(model.name).recordKeyOf(key, identity.tenant)
      : recordOfKey(classes, model, key, identity.tenant)
  }

  fromStored(model: EntityModel, stored: UserKey): KeyValue {
    const { classes, identity } = this.#context
    return model.several === undefined
      ? classes.of(model.name).codec.key.scheme.fromStored(stored, identity.tenant)
      : keyOfStoredRef(classes.codecs, model, stored, identity.tenant)
  }

  keyOfParts(model: EntityModel, parts: { readonly [part: string]: KeyValue }): KeyValue {
    const { classes, identity } = this.#context
    return classes.of(model.name).codec.key.scheme.toKey(parts, identity.tenant)
  }

  keyPart(model: EntityModel, key: KeyValue, ref: string): KeyValue {
    return this.#context.classes.of(model.name).codec.key.scheme.parts(key)[ref] as KeyValue
  }
}

const isCompanion = ({ model }: Tracked, { entity, key }: ReadCommand): boolean =>
  entity === model.name && key.set !== model.set
