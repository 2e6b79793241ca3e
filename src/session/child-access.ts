import { unstorable, type ChildrenField, type Codecs } from '../codec/index.js'
import { describeKey, type KeyValue } from '../keys/index.js'
import type { BinType, EmbeddableModel, EntityModel } from '../model/index.js'
import type { PathLevel } from '../plan/expression.js'
import type { WriteOperation } from '../plan/operation.js'
import { atKey, MAX_CONTEXTS } from '../plan/operations.js'
import type { MapKey, Value } from '../plan/value.js'
import { unread, type Change } from '../records/change.js'
import { badArgument, notStoredYet, tooManyUnsent } from '../records/handle-errors.js'
import { answerLocally, containerAt } from '../records/local-answers.js'
import type { Place } from '../records/place.js'
import type { Question } from '../records/question.js'
import type { ChildrenAccess, RecordTarget } from '../records/record-target.js'
import type { ChangedPart, LocatedPart, RelationStrategy } from '../relations/contract/relation-strategy.js'
import { childCollection } from './child-collection.js'
import { fixedFields, noChild, notInChild, notInside, placeUnknown } from './child-errors.js'
import { partInside, wayOf, type ChildStep } from './child-steps.js'
import { askApart, askPathApart } from './child-apart.js'
import { managedOf } from './tracking/identity-map.js'
import type { ManagedEntity } from './tracking/managed-entity.js'
import { recordUnsent } from './child-meanwhile.js'
import { checkAfterDelete, checkStays } from './tracking/record-meanwhile.js'
import { recordedChanges } from './tracking/write-options.js'
import { exceedsQuestion } from './unsent-changes.js'

/** A consolidated child as its handles see it. */
export function childAccess(
  record: RecordTarget,
  relation: RelationStrategy,
  id: unknown,
  find: () => ManagedEntity,
): { readonly target: RecordTarget; readonly place: Place } {
  const { name: property, bin, target: part } = relation.model
  const child = relation.parts!.locate!(find(), id)
  if (child.place === undefined)
    throw child.part === null ? noChild(record, property, child) : placeUnknown(record, property, child.id)
  const type: BinType = { kind: 'embedded', shape: 'one', part }
  const place = {
    property,
    bin: bin!,
    type,
    rootType: type,
    rootKey: child.id,
    path: [atKey(child.place)],
    steps: [],
  }
  return { target: new ChildAccess(record, relation, child.id, find, place), place }
}

class ChildAccess implements RecordTarget {
  readonly #record: RecordTarget
  readonly #relation: RelationStrategy
  readonly #id: KeyValue
  readonly #find: () => ManagedEntity
  readonly #place: Place
  /** From the child of the record to the part that this is about; none where that is the same. */
  readonly #steps: readonly ChildStep[]

  constructor(
    record: RecordTarget,
    relation: RelationStrategy,
    id: KeyValue,
    find: () => ManagedEntity,
    place: Place,
    steps: readonly ChildStep[] = [],
  ) {
    this.#record = record
    this.#relation = relation
    this.#id = id
    this.#find = find
    this.#place = place
    this.#steps = steps
  }

  get model(): EntityModel {
    return this.#record.model
  }

  get codecs(): Codecs {
    return this.#record.codecs
  }

  get key(): KeyValue {
    return this.#record.key
  }

  get #part(): EmbeddableModel {
    return this.#steps.at(-1)?.field.codec.model ?? this.codecs.model.embeddable(this.#relation.model.target)
  }

  /** A loaded child shows the change; a new one is sent with it. */
  record(change: Change, added?: Omit<ChangedPart, 'key'>): void {
    const managed = this.#find()
    checkStays(managed, change.property)
    checkAfterDelete(managed, change.property)
    const child = this.#locate(managed)
    this.#checkFields(change.operation)
    if (!child.part && this.#isInAdded(child)) return this.#edit(change, added)
    // A loaded child cannot show what only the server can apply.
    if (child.part && change.isByServer === true) throw notStoredYet(this, change.property)
    if (child.part) change.check?.(child.part)
    const part = child.part && this.#inside(child.part)
    const fields = { steps: this.#steps, bins: this.#touched(change.operation) }
    const { property } = change
    const record = (operation: Change['operation']): (() => void) =>
      child.apart?.record(operation) ?? managed.addWriteOptions({ change: { property, operation, apply: unchanged } })
    const recorded = part && recordUnsent(child, fields, record)
    if (part && recorded === undefined) return void change.apply(part)
    if (part) {
      change.apply(part)
      child.accept(fields)
    }
    const sent = child.part ? change : unread(change)
    const undo = record(sent.operation)
    recorded?.(undo)
    // Only the server can apply some changes: until they are sent, the child shows what is stored.
    if (change.isByServer === true) return
    const pending = (): readonly WriteOperation[] =>
      child.apart?.recorded ?? recordedChanges(managed).map(({ operation }) => operation)
    const isUnsent = (): boolean => pending().includes(sent.operation)
    child.showWhenRead({ apply: (read) => void change.apply(this.#inside(read)), isUnsent, added: this.#within(added) })
  }

  /** Makes the change once the child is read, before it is sent: an inverse index must know what was there. */
  #edit(change: Change, added?: Omit<ChangedPart, 'key'>): void {
    const managed = this.#find()
    const { property, isByServer } = change
    checkStays(managed, property)
    checkAfterDelete(managed, property)
    if (isByServer === true) throw notStoredYet(this, property)
    const make = (read: object): boolean => {
      const part = partInside(read, this.#steps)
      if (part !== undefined) change.apply(part)
      return part !== undefined
    }
    this.#locate(managed).edit({ apply: make, added: this.#within(added) })
  }

  /** True for a part that waits to be added, and for those inside it. */
  #isInAdded({ edits }: LocatedPart): boolean {
    const way = wayOf(this.#steps)
    return edits.some(({ added }) => {
      const path = added?.below?.path
      return path !== undefined && (way === path || way.startsWith(`${path}.`))
    })
  }

  async ask(place: Place, questions: readonly Question[]): Promise<readonly (Value | undefined)[]> {
    const asked = this.#found(this.#find())
    if (asked.edits.length > 0 || exceedsQuestion(asked, place, this.#find(), this)) await asked.read()
    const { part, apart } = this.#found(this.#find())
    // A child that is loaded and not there has the answers of one that the server does not find.
    const isMissing = part === null || (part !== undefined && partInside(part, this.#steps) === undefined)
    if (isMissing) return questions.map(() => undefined)
    if (!part && apart !== undefined) return this.betweenWrites(() => askApart(this.#apart(), place, questions))
    if (!part) return this.#record.ask({ ...place, rootType: MAP }, questions)
    const stored = containerAt(this.#encoded(part), place.path.slice(1))
    return questions.map((one) => answerLocally(stored, one))
  }

  betweenWrites<T>(ask: () => Promise<T>): Promise<T> {
    return this.#record.betweenWrites(ask)
  }

  /** The child in its companion, with what is recorded of it by now. */
  #apart(): NonNullable<LocatedPart['apart']> {
    return this.#locate(this.#find()).apart!
  }

  requirePaths(property: string): void {
    this.#record.requirePaths(property)
  }

  askPath(place: Place, levels: readonly PathLevel[], isCount: boolean): Promise<Value | undefined> {
    const asked = this.#found(this.#find())
    const { part, apart } = asked
    if (part === null) return Promise.resolve(undefined)
    if (part) throw notStoredYet(this, place.property)
    if (exceedsQuestion(asked, place, this.#find(), this)) throw tooManyUnsent(this, place.property)
    if (apart !== undefined) return this.betweenWrites(() => askPathApart(this.#apart(), place, levels, isCount))
    return this.#record.askPath({ ...place, rootType: MAP }, levels, isCount)
  }

  children(name: string): ChildrenAccess {
    return childCollection({
      target: this,
      place: this.#place,
      relation: this.#relation.model,
      field: this.#field(name),
      way: this.#steps.map(({ field }) => field.name),
      loaded: () => {
        const { part } = this.#locate(this.#find())
        return part ? this.#inside(part) : undefined
      },
      record: (change, added) => this.record(change, added),
      edit: (change, added) => this.#edit(change, added),
      isStored: (entity) => managedOf(entity)?.state === 'stored',
    })
  }

  /** A child of this child: one context further in the same record. */
  child(name: string, given: unknown): { readonly target: RecordTarget; readonly place: Place } {
    const field = this.#field(name)
    const id = field.codec.key!.scheme.toKey(given)
    const { property, path } = this.#place
    if (path.length === MAX_CONTEXTS) {
      const what = `children are at most ${MAX_CONTEXTS} levels deep, and ${describeKey(id)} would lie deeper`
      throw badArgument(this, property, what, 'Store deeper ones in a record of their own.')
    }
    const type: BinType = { kind: 'embedded', shape: 'one', part: field.codec.model.name }
    const place = { ...this.#place, type, rootType: type, path: [...path, atKey(field.keyOf(id))] }
    const steps = [...this.#steps, { field, id }]
    return { target: new ChildAccess(this.#record, this.#relation, this.#id, this.#find, place, steps), place }
  }

  withCollection(): never {
    throw notInChild(this, this.#relation.model.name)
  }

  count(): never {
    throw notInChild(this, this.#relation.model.name)
  }

  #field(name: string): ChildrenField {
    const { children } = this.#steps.at(-1)?.field.codec ?? this.codecs.part(this.#part.name)
    const field = children.find((each) => each.name === name)
    if (field === undefined) throw notInChild(this, this.#relation.model.name)
    return field
  }

  /** Place of the change by its path from the child of the record. */
  #within(added: Omit<ChangedPart, 'key'> | undefined): ChangedPart | undefined {
    const below = added?.below
    if (added === undefined || below === undefined) return undefined
    return { key: this.#id, part: added.part, below: { ...below, path: wayOf(this.#steps) + below.path } }
  }

  #found(managed: ManagedEntity): LocatedPart {
    return this.#relation.parts!.locate!(managed, this.#id)
  }

  #locate(managed: ManagedEntity): LocatedPart {
    const child = this.#found(managed)
    if (child.part === null) throw noChild(this, this.#relation.model.name, child)
    return child
  }

  /** The part that this is about, in a loaded child. */
  #inside(child: object): object {
    const found = partInside(child, this.#steps)
    if (found !== undefined) return found
    const { field, id } = this.#steps.at(-1)!
    throw notInside(this, field.name, id)
  }

  #encoded(part: object): Value {
    try {
      return this.codecs.part(this.#relation.model.target).encode(part, 1)
    } catch (error) {
      throw unstorable(this.model, this.key, error)
    }
  }

  /** Fields of the part that an operation changes, or changes something in. */
  #touched(operation: Change['operation']): ReadonlySet<string> {
    const step = 'path' in operation ? operation.path?.[1 + this.#steps.length] : undefined
    const keys = step?.in === 'mapKey' ? [step.key] : fieldsOf(operation)
    return new Set(keys.map(String))
  }

  /** Key and fields of an order say where the child is: they change with the child loaded. */
  #checkFields(operation: Change['operation']): void {
    // Children of parts are under their ids, whatever their order.
    const { sortKey = [], orders = [] } = this.#relation.model
    const sorted = this.#steps.length === 0 ? [...sortKey, ...orders.flatMap(({ properties }) => properties)] : []
    const fixed = [...this.#part.key!.properties, ...sorted]
    const bins = new Set(this.#part.properties.filter(({ name }) => fixed.includes(name)).map(({ bin }) => bin))
    const isInside = 'path' in operation && (operation.path ?? []).length > 1 + this.#steps.length
    const field = isInside ? undefined : fieldsOf(operation).find((key) => bins.has(String(key)))
    if (field === undefined && (isInside || operation.kind !== 'mapClear')) return
    throw fixedFields(this, this.#relation.model.name)
  }
}

const MAP: BinType = { kind: 'map', key: 'string', value: { kind: 'json' } }
const unchanged = (value: unknown): unknown => value

function fieldsOf(operation: WriteOperation): readonly MapKey[] {
  if (operation.kind === 'mapRemoveKeys') return operation.keys
  if (operation.kind === 'mapPutItems') return [...operation.items.keys()]
  const isPut = operation.kind === 'mapPut' || operation.kind === 'mapPutMissing'
  return isPut || operation.kind === 'mapIncrement' ? [operation.key] : []
}
