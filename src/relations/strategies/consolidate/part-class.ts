import {
  inEntry,
  readProperty,
  unreadable,
  unstorable,
  ValueProblem,
  writeProperty,
  type ChildCodec,
} from '../../../codec/index.js'
import { EntityGoneError, SkeinError } from '../../../errors/index.js'
import { describeKey, type KeyValue } from '../../../keys/index.js'
import type { EntityModel, RangeBound, RelationModel } from '../../../model/index.js'
import type { Path, WriteOperation } from '../../../plan/operation.js'
import { atKey } from '../../../plan/operations.js'
import type { MapKey, Value } from '../../../plan/value.js'
import type { Tracked } from '../../contract/tracked.js'
import type { Reader } from '../../contract/reader.js'
import { isOfKind, type AskedBin } from '../../contract/stored-keys.js'
import { IndexCoverage, type IndexedPart } from './indexed-refs.js'
import { PartOrder, tupleOf, type OrderValues, type Tuple } from './part-order.js'
import { SortKey } from './sort-key.js'

const NOTHING_INDEXED = Object.freeze({ refs: [], children: [] }) as unknown as IndexedPart
const NO_VALUES: readonly never[] = Object.freeze([])
const REPAIR = 'Repair the record; another program may have written it.'

/** A stored part and where it is. */
interface PatchedPart {
  readonly part: object
  readonly snapshot: object
  readonly place: MapKey
  /** Children in it that stay for now. */
  readonly keeps?: ReadonlySet<object>
}

/** The parts of one consolidated collection: their ids, their places in its map, and how they are stored. */
export class PartClass {
  readonly relation: RelationModel
  readonly codec: ChildCodec
  readonly sortKey: SortKey | undefined
  readonly orders: readonly PartOrder[]
  readonly #owner: Pick<EntityModel, 'name'>
  #coverage: IndexCoverage | undefined

  constructor(relation: RelationModel, owner: Pick<EntityModel, 'name'>, codec: ChildCodec) {
    this.relation = relation
    this.codec = codec
    this.#owner = owner
    this.orders = (relation.orders ?? []).map((order) => new PartOrder(order, codec.model))
    this.sortKey = relation.sortKey && new SortKey(codec.model, relation.sortKey)
  }

  get bin(): string {
    return this.relation.bin!
  }

  get ownerName(): string {
    return this.#owner.name
  }

  /** An instance of its class, or a plain object, which is stored like one. */
  accepts(part: object): boolean {
    const prototype = Object.getPrototypeOf(part) as unknown
    return part instanceof this.codec.model.class || prototype === Object.prototype || prototype === null
  }

  /** Null while the part lacks what its id is made of. */
  readonly keyOf = (part: object): KeyValue | null => this.codec.key!.tryKeyOf(part)

  /** Throws where the part has no id. */
  idOf(part: object): KeyValue {
    return this.codec.key!.keyOf(part)
  }

  /** The id that a caller means, of the type that ids have; or made of its parts. */
  checkedId(id: unknown): KeyValue {
    return this.codec.key!.scheme.toKey(id)
  }

  /** The key in the map. */
  placeOf(part: object): MapKey {
    return this.#place(this.idOf(part), part)
  }

  /** The id at a place. */
  idAt(place: MapKey): KeyValue {
    if (this.sortKey !== undefined) return this.sortKey.idOf(place as string)
    return this.codec.model.key!.kind === 'bigint' ? BigInt(place as bigint) : place
  }

  /** Map key at which a range begins or ends. */
  bound(bound: RangeBound): MapKey {
    const values = Array.isArray(bound) ? (bound as readonly unknown[]) : [bound]
    if (this.sortKey === undefined) return this.codec.key!.scheme.toKey(values[0])
    if (values.length <= this.sortKey.properties.length) return this.sortKey.prefix(values)
    const count = this.sortKey.properties.length
    return this.sortKey.write(values.slice(0, count), values[count] as KeyValue)
  }

  /** Gives a part what it can only get here: a generated id, and the key of its record where that is part of its id. */
  prepare(part: object, { model: record, key: stored }: Tracked, reader: Reader): void {
    const { key, model } = this.codec
    key!.generate(part)
    const parent = model.key!.parent
    if (parent === undefined) return
    const [own, given] = [reader.fromStored(record, stored.key), readProperty(part, parent) as KeyValue | undefined]
    if (given == null) writeProperty(part, parent, own)
    else if (String(given) !== String(own)) throw this.#elsewhere(part, parent, given, own)
  }

  /** The key of the record that the part's id leads to, where ids say one. */
  parentOf(part: object): KeyValue | undefined {
    const { parent } = this.codec.model.key!
    return parent === undefined ? undefined : (readProperty(part, parent) as KeyValue)
  }

  #elsewhere(part: object, property: string, given: KeyValue, own: KeyValue): SkeinError {
    const { name } = this.codec.model
    const id = describeKey(this.keyOf(part) ?? given)
    const message = `${name} ${id} says in ${property} that it belongs to ${this.#owner.name} ${describeKey(given)}, not to ${describeKey(own)}: it could not be found there by its id.`
    return new SkeinError('SKEIN_2424', message, {
      className: name,
      property,
      key: own,
      fix: `Leave ${property} out; to move one, add a copy without it and remove the old one.`,
    })
  }

  /** The bins of the collection: its children, and what is kept beside them. */
  get maps(): readonly AskedBin[] {
    const { sortKeyBin, inverseIndexes = [] } = this.relation
    const names = [this.bin, ...(sortKeyBin === undefined ? [] : [sortKeyBin]), ...inverseIndexes.map(({ bin }) => bin)]
    return names.map((bin) => ({ bin, holds: 'map' }))
  }

  /** The tuples of a part, one for each further order. */
  tuplesOf(part: object): readonly Tuple[] {
    return this.orderValuesOf(part).map((values) => tupleOf(values, this.idOf(part)))
  }

  /** The values of a part, one list for each further order. */
  orderValuesOf(part: object): readonly OrderValues[] {
    if (this.orders.length === 0) return NO_VALUES
    const stored = this.codec.encode(part, 1)
    return this.orders.map((order) => order.valuesOf(stored))
  }

  /** The order of that name; undefined where there is none. */
  orderNamed(name: string): PartOrder | undefined {
    return this.orders.find((order) => order.name === name)
  }

  /** The children in the stored map. */
  valuesIn(stored: Value | undefined, owner: Tracked): Iterable<Value> {
    if (stored === undefined || stored === null) return []
    if (!isOfKind('map', stored)) throw this.noMap(owner)
    return stored instanceof Map ? (stored.values() as Iterable<Value>) : Object.values(stored as Record<string, Value>)
  }

  decode(stored: Value, owner: Tracked): object {
    try {
      return this.decoded(stored)
    } catch (error) {
      throw unreadable(this.#owner, owner.key.key, inEntry(this.relation.name, undefined, error))
    }
  }

  /** A part as it is stored; one that lacks its id was written by another program. */
  decoded(stored: Value): object {
    const part = this.codec.decode(stored)
    if (this.keyOf(part) !== null) return part
    throw new ValueProblem(`a stored ${this.codec.model.name} has no id`, REPAIR)
  }

  /** The error for a bin that holds no map of children. */
  noMap({ key }: Tracked): SkeinError {
    const problem = new ValueProblem(`the stored value is not a map of ${this.codec.model.name}`, REPAIR)
    return unreadable(this.#owner, key.key, inEntry(this.relation.name, undefined, problem)) as SkeinError
  }

  encode(part: object, owner: Tracked): Value {
    return this.#guard(part, owner, () => this.codec.encode(part, 1))
  }

  /** The operations that bring a stored part up to date; only fields that changed. */
  patch({ part, snapshot, place, keeps }: PatchedPart, owner: Tracked): readonly WriteOperation[] {
    const path: Path = [atKey(place)]
    return this.#guard(part, owner, () => this.codec.patch(part, snapshot, { bin: this.bin, path, keeps }))
  }

  /** The references of a part, and of the parts in it, that the owner keeps an index of. */
  indexed(part: object, snapshot?: object): IndexedPart {
    return this.coverage?.see(part, snapshot ?? this.codec.snapshot(part)) ?? NOTHING_INDEXED
  }

  /** Parts that inverse indexes are about; undefined where there is no such index. Made when asked, once codecs know their children. */
  get coverage(): IndexCoverage | undefined {
    const { inverseIndexes } = this.relation
    if (inverseIndexes !== undefined) this.#coverage ??= IndexCoverage.of(this.codec, inverseIndexes)
    return this.#coverage
  }

  keyChanged(before: KeyValue, now: KeyValue): SkeinError {
    const { name } = this.codec.model
    const message = `The key of ${name} ${describeKey(before)} in ${this.#owner.name}.${this.relation.name} was changed to ${describeKey(now)}.`
    return new SkeinError('SKEIN_2203', message, {
      className: name,
      key: before,
      fix: 'A stored part keeps its key: add a new part and remove this one.',
    })
  }

  tooManyMoves({ key }: Tracked, left: number, most: number): SkeinError {
    const where = `${this.#owner.name}.${this.relation.name}`
    const message = `${left + most} children of ${where} of ${describeKey(key.key)} change their places in one transaction, which has one write for each record.`
    return new SkeinError('SKEIN_2425', message, {
      className: this.#owner.name,
      property: this.relation.name,
      key: key.key,
      fix: `Change at most ${most} of them in a transaction, or flush them with { transactions: 'off' }.`,
    })
  }

  /** A handle was to change what is inside a child that is not there, or lacks that. */
  childGone({ key }: Tracked, id: KeyValue): EntityGoneError {
    const { name } = this.relation
    const where = `${this.#owner.name} ${describeKey(key.key)}`
    const message = `${where}: '${name}' has no child ${describeKey(id)}, or that has not the one inside it that is to be changed.`
    const fix = 'Add it first, or drop the change: await session.refresh(entity).'
    return new EntityGoneError(message, { className: this.#owner.name, property: name, key: key.key, fix })
  }

  bareKey(member: KeyValue): SkeinError {
    const message = `${this.#owner.name}.${this.relation.name} holds its children itself, so ${describeKey(member)} alone cannot be added.`
    return new SkeinError('SKEIN_2421', message, {
      className: this.#owner.name,
      property: this.relation.name,
      fix: `Add an instance of ${this.codec.model.name}.`,
    })
  }

  #place(id: KeyValue, part: object): MapKey {
    if (id === '__proto__') {
      throw new SkeinError('SKEIN_2101', `${this.codec.model.name}: the client loses a map key called '__proto__'.`, {
        className: this.codec.model.name,
        fix: 'Use another key.',
      })
    }
    const { sortKey } = this
    return sortKey === undefined
      ? id
      : sortKey.write(
          sortKey.properties.map((name) => readProperty(part, name)),
          id,
        )
  }

  #guard<T>(part: object, owner: Tracked, work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw unstorable(this.#owner, owner.key.key, inEntry(this.relation.name, this.keyOf(part), error))
    }
  }
}
