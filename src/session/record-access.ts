import {
  readInPart,
  readProperty,
  typeCodecOf,
  UNSENT,
  unstorable,
  writeProperty,
  type Codecs,
} from '../codec/index.js'
import type { KeyValue } from '../keys/index.js'
import { goneBinsOf, isGoneBy, type EntityModel } from '../model/index.js'
import { ask } from '../plan/collection-expression.js'
import { read, stillThere } from '../plan/command.js'
import { cond, unknown, type Expression, type PathLevel } from '../plan/expression.js'
import { readExpression } from '../plan/operations.js'
import type { Value } from '../plan/value.js'
import { unread, type Change } from '../records/change.js'
import { isAtLeast, PATHS_SINCE } from '../driver/build.js'
import { selectPath } from '../plan/path-expression.js'
import { changedByServer, notStoredYet, tooManyUnsent, tooOld } from '../records/handle-errors.js'
import { forgetLoaded } from './forget-loaded.js'
import { applyToPart } from '../records/apply-to-part.js'
import { fitQuestion, pendingAt } from '../records/join-changes.js'
import { answerLocally, containerAt } from '../records/local-answers.js'
import { shapeOf, withoutCreating, type Place } from '../records/place.js'
import type { Question } from '../records/question.js'
import type { RecordTarget } from '../records/record-target.js'
import { unsentCollection, unsentCounter } from '../records/unsent-expression.js'
import type { Reader } from '../relations/contract/reader.js'
import { sumOf } from './counters/counter-shards.js'
import { childAccess } from './child-access.js'
import { unknownRelation } from './context/session-errors.js'
import type { MappedClass } from './mapping/mapped-class.js'
import type { ManagedEntity } from './tracking/managed-entity.js'
import { immutableChanged } from './tracking/immutable-values.js'
import {
  acceptRecorded,
  checkAfterDelete,
  checkStays,
  isBeingCreated,
  recordUnsent,
} from './tracking/record-meanwhile.js'
import { recordedChanges } from './tracking/write-options.js'
import { changedHere, createdValue, unsentOf, type BinChange } from './unsent-changes.js'

/** Session of a handle; it makes its reader when something is asked, and most handles only change. */
interface AskedSession {
  readonly loads: { readonly reader: Reader }
  readonly work: { ask<T>(find: () => ManagedEntity, ask: (managed: ManagedEntity) => Promise<T>): Promise<T> }
}

/** Record of a session, as its handles see it. */
export class RecordAccess implements RecordTarget {
  readonly codecs: Codecs
  readonly #mapped: MappedClass
  readonly #session: AskedSession
  readonly #find: () => ManagedEntity
  readonly #build: string

  constructor(mapped: MappedClass, codecs: Codecs, session: AskedSession, build: string, find: () => ManagedEntity) {
    this.#mapped = mapped
    this.#build = build
    this.codecs = codecs
    this.#session = session
    this.#find = find
  }

  get model(): EntityModel {
    return this.#mapped.model
  }

  get key(): KeyValue {
    return this.#find().key.key
  }

  record(change: Change): void {
    const managed = this.#find()
    const { property } = change
    checkStays(managed, property)
    if (managed.state === 'new' && change.isByServer === true) throw notStoredYet(this, property)
    const isNew = isUnsent(managed, property)
    if (!isNew && this.#mapped.immutable.some(({ name }) => name === property))
      throw immutableChanged(this.model, this.key, property)
    if (isNew || isLoaded(managed, property)) change.check?.(readProperty(managed.entity, property))
    noteChange(managed, change)
  }

  betweenWrites<T>(ask: (managed: ManagedEntity) => Promise<T>): Promise<T> {
    return this.#session.work.ask(this.#find, ask)
  }

  ask(place: Place, questions: readonly Question[]): Promise<readonly (Value | undefined)[]> {
    return this.betweenWrites((managed) => this.#ask(managed, place, questions))
  }

  async #ask(
    managed: ManagedEntity,
    place: Place,
    questions: readonly Question[],
  ): Promise<readonly (Value | undefined)[]> {
    if (managed.state === 'new') return questions.map((one) => answerLocally(this.#ownValue(managed, place), one))
    const rootType = place.rootType ?? typeOf(managed, place.property)
    const type = shapeOf(rootType) === 'map' ? 'map' : 'list'
    const path = withoutCreating(place.path)
    const changes = pendingAt(path, unsentOf(managed, place.bin))
    if (!fitQuestion(changes)) return this.#askHere(managed, place, changes, questions)
    const subject = unsentCollection(place.bin, type, changes)
    const answers = await this.#read(
      managed,
      questions.map(({ name, args }) => ask(name, subject, args, path)),
    )
    if (answers !== undefined) return answers
    const created = containerAt(createdValue(managed, place.bin), path)
    return questions.map((one) => answerLocally(created, one))
  }

  /** Reads the value and applies the changes here. */
  async #askHere(
    managed: ManagedEntity,
    place: Place,
    changes: readonly BinChange[],
    questions: readonly Question[],
  ): Promise<readonly (Value | undefined)[]> {
    if (place.rootType !== undefined || changes.some(({ kind }) => kind === 'changeByPath'))
      throw tooManyUnsent(this, place.property)
    const value = await changedHere(managed, place, changes, this.codecs, this.#session.loads.reader)
    const container = containerAt(value, place.path)
    return questions.map((one) => answerLocally(container, one))
  }

  children(name: string): never {
    throw unknownRelation(this.#mapped, name)
  }

  requirePaths(property: string): void {
    if (isAtLeast(this.#build, PATHS_SINCE)) return
    throw tooOld(this, property, this.#build, PATHS_SINCE.join('.'))
  }

  askPath(place: Place, levels: readonly PathLevel[], isCount: boolean): Promise<Value | undefined> {
    return this.betweenWrites((managed) => this.#askPath(managed, place, levels, isCount))
  }

  async #askPath(
    managed: ManagedEntity,
    place: Place,
    levels: readonly PathLevel[],
    isCount: boolean,
  ): Promise<Value | undefined> {
    if (managed.state === 'new') throw notStoredYet(this, place.property)
    const type = shapeOf(place.rootType ?? typeOf(managed, place.property)) === 'map' ? 'map' : 'list'
    const changes = pendingAt(place.path, unsentOf(managed, place.bin))
    if (!fitQuestion(changes)) throw tooManyUnsent(this, place.property)
    const found = selectPath(unsentCollection(place.bin, type, changes), levels)
    const answers = await this.#read(managed, [isCount ? ask('listSize', found, []) : found])
    const isPending = recordedChanges(managed).some(({ property }) => property === place.property)
    if (answers === undefined && managed.stored?.createsRecord === true && isPending)
      throw notStoredYet(this, place.property)
    return answers?.[0]
  }

  count(property: string): Promise<number | bigint> {
    return this.betweenWrites((managed) => this.#count(managed, property))
  }

  async #count(managed: ManagedEntity, property: string): Promise<number | bigint> {
    if (managed.state === 'new') return (readProperty(managed.entity, property) as number | bigint | undefined) ?? 0
    const bin = managed.mapped.binOf(property)!
    if (managed.mapped.shards?.has(bin) === true) return this.#countShards(managed, property, bin)
    const answers = await this.#read(managed, [unsentCounter(bin, pendingAt([], unsentOf(managed, bin)))])
    const value = answers === undefined ? this.#createdCount(managed, property) : (answers[0] ?? 0)
    return this.#counted(property, value as number | bigint)
  }

  /** Reads the record and the companions of the counter in one batch. */
  async #countShards(managed: ManagedEntity, property: string, bin: string): Promise<number | bigint> {
    const { model, mapped, key } = managed
    const wanted = new Set([property])
    const reads = [read(model.name, key, [bin, ...goneBinsOf(model)]), ...mapped.shards!.reads(model.name, key, wanted)]
    const [record, ...companions] = await this.#session.loads.reader.read(reads)
    const isThere = record !== null && !isGoneBy(model, record.bins)
    if (!isThere) return this.#counted(property, this.#createdCount(managed, property))
    const stored = mapped.shards!.withTotals(record, wanted, companions).bins[bin] as number | bigint
    const unsent = unsentOf(managed, bin).map((one) => (one.kind === 'addToBin' ? (one.delta as number | bigint) : 0))
    return this.#counted(property, sumOf([stored, ...unsent]))
  }

  #counted(property: string, value: number | bigint): number | bigint {
    const { type } = this.model.properties.find(({ name }) => name === property)!
    return type.kind === 'bigint' ? BigInt(value) : value
  }

  child(name: string, id: unknown): { readonly target: RecordTarget; readonly place: Place } {
    const relation = this.#mapped.relations.find(({ model }) => model.name === name)
    if (relation?.parts?.locate === undefined) throw unknownRelation(this.#mapped, name)
    return childAccess(this, relation, id, this.#find)
  }

  withCollection(name: string): object {
    const relation = this.#mapped.relations.find(({ model }) => model.name === name)
    if (relation?.model.holds !== 'collection') throw unknownRelation(this.#mapped, name)
    const managed = this.#find()
    checkAfterDelete(managed, name)
    return managed.entity
  }

  /** Answers in their order; undefined where there is no record. */
  async #read(
    managed: ManagedEntity,
    expressions: readonly Expression[],
  ): Promise<readonly (Value | undefined)[] | undefined> {
    const { model, mapped, key } = managed
    const isEverGone = !mapped.standsAlone || model.deletedAt !== undefined
    const operations = expressions.map((one) => readExpression(nextName(), isEverGone ? ifThere(model, one) : one))
    const [record] = await this.#session.loads.reader.read([read(model.name, key, 'none', operations)])
    return record === null ? undefined : operations.map(({ name }) => record.bins[name])
  }

  #ownValue({ entity }: ManagedEntity, place: Place): Value | undefined {
    return this.#encoded(readProperty(entity, place.property), place)
  }

  #createdCount(managed: ManagedEntity, property: string): number | bigint {
    const changes = managed.stored?.createsRecord
      ? recordedChanges(managed).filter((one) => one.property === property)
      : []
    return (changes.reduce<unknown>((value, change) => change.apply(value), 0) as number | bigint | undefined) ?? 0
  }

  #encoded(value: unknown, { property, path }: Place): Value | undefined {
    if (value === undefined || value === null) return undefined
    const { type } = this.model.properties.find(({ name }) => name === property)!
    try {
      return containerAt(typeCodecOf(type, this.codecs).encode(value, 0), path)
    } catch (error) {
      throw unstorable(this.model, this.key, error)
    }
  }
}

/** Throws where recorded changes of these properties cannot be shown, before anything of them is taken over. */
export function checkRecorded(managed: ManagedEntity, properties: ReadonlySet<string>): void {
  const changes = recordedChanges(managed).filter(({ property }) => properties.has(property))
  const [hidden, shown] = [changes.find((one) => one.isByServer), changes.find((one) => one.isShown)]
  if (hidden !== undefined) throw changedByServer(managed.model, managed.key.key, hidden.property)
  if (shown !== undefined) throw readInPart(managed.model, managed.key.key, shown.property, UNSENT)
}

/** Shows recorded changes in properties that were loaded after them. */
export function showRecorded(managed: ManagedEntity, properties: ReadonlySet<string>): void {
  for (const change of recordedChanges(managed)) {
    const isProperty = managed.model.properties.some(({ name }) => name === change.property)
    if (!isProperty || !properties.has(change.property)) continue
    apply(managed, change)
    managed.mapped.codec.acceptChange(managed.entity, managed.snapshot!, change.property)
  }
}

const isUnsent = (managed: ManagedEntity, property: string): boolean =>
  managed.state === 'new' && !isBeingCreated(managed, property)

/** Records a change for the next flush, and shows it where its value is loaded. */
export function noteChange(managed: ManagedEntity, change: Change): void {
  const { property } = change
  if (isUnsent(managed, property)) return apply(managed, change)
  const isRead = isLoaded(managed, property)
  if (isRead || managed.loaded?.parts?.has(property) === true) {
    recordUnsent(managed, property)
    apply(managed, change)
    acceptRecorded(managed, property)
    if (change.isByServer === true) forgetLoaded(managed, new Set([property]))
  }
  managed.addWriteOptions({ change: isRead ? change : unread(change) })
}

function apply({ entity, loaded }: ManagedEntity, change: Change): void {
  const part = loaded?.parts?.get(change.property)
  const value = readProperty(entity, change.property)
  writeProperty(entity, change.property, part === undefined ? change.apply(value) : applyToPart(part, value, change))
}

function isLoaded({ isUnread, loaded }: ManagedEntity, property: string): boolean {
  return !isUnread && (loaded === undefined || loaded.has(property))
}

const typeOf = ({ model }: ManagedEntity, property: string): EntityModel['properties'][number]['type'] =>
  model.properties.find(({ name }) => name === property)!.type

const ifThere = (model: EntityModel, expression: Expression): Expression =>
  cond(stillThere(model), expression, unknown())

let asked = 0
/** Names of results must differ within one command; a few thousand are more than fit one. */
const nextName = (): string => `_q${(asked = (asked + 1) % 100_000)}`
