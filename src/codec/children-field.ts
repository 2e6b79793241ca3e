import { SkeinError } from '../errors/index.js'
import { describeKey, type KeyValue } from '../keys/index.js'
import {
  CHILD_KEY_END,
  type Collection,
  type EmbeddableModel,
  type EntityModel,
  type RelationModel,
} from '../model/index.js'
import type { Bins } from '../plan/command.js'
import type { WriteOperation } from '../plan/operation.js'
import { MAX_CONTEXTS } from '../plan/operations.js'
import type { Value } from '../plan/value.js'
import type { RelationFactory } from './relation-factory.js'
import type { EntityKey } from './entity-key.js'
import type { MapChanges } from './map-changes.js'
import { writeProperty } from './own-property.js'
import type { MutableBins, PropertyCodec } from './property-codec.js'
import { depthOf, under, type Place, type TypeCodec } from './type-codec.js'
import { keyStep, shown, throwUnder, ValueProblem } from './value-problem.js'

/** The members of a collection of parts as they are now, in no order. */
export const CHILDREN = Symbol('children')

/** A child as it was stored: another instance under the same id takes its place. */
interface KnownChild {
  readonly part: object
  readonly id: KeyValue
  readonly snapshot: object
}

export type KnownChildren = ReadonlyMap<string, KnownChild>

const NO_CHILDREN: KnownChildren = new Map()
const NO_PARTS: readonly object[] = Object.freeze([])
const NO_BINS: readonly string[] = Object.freeze([])
const REPAIR = 'Repair the record; another program may have written it.'

/** Codec of parts that have an id, and may have children of their own. */
export interface ChildCodec extends TypeCodec {
  readonly model: EmbeddableModel
  readonly key: EntityKey | undefined
  /** Collections of its own consolidated children. */
  readonly children: readonly ChildrenField[]
  /** The class that a reference of its own leads to, or what stands for several. */
  targetOf(ref: string): EntityModel
  decode(stored: Value): object
  /** Decodes into an existing instance. */
  fill(instance: object, stored: Value): void
  snapshot(value: unknown): object
  patch(value: unknown, snapshot: unknown, place: Place): readonly WriteOperation[]
  advanceAdded(known: unknown, sent: unknown): object | undefined
  /** True when no field of its own differs; children are left out. */
  hasSameFields(value: object, snapshot: object): boolean
  /** Children that a snapshot holds in one of its collections. */
  knownChildren(snapshot: object, field: ChildrenField): KnownChildren
  /** The value that a snapshot holds for a field of its own; the key of a reference. */
  knownField(snapshot: object, name: string): unknown
  /** The snapshot with fields of another one, by their names in the stored map. */
  withFields(snapshot: object, other: object, bins: ReadonlySet<string>): object
  /** The snapshot with other children in one of its collections. */
  withChildren(snapshot: object, field: ChildrenField, children: KnownChildren): object
  /** The snapshot with those children of an older one that are kept, at every level. */
  keepChildren(snapshot: object, older: object, kept: ReadonlySet<object>): object
}

/**
 * Consolidated children of a part. Each is an entry of the part's own map, under the name of the collection and its id: so a child
 * costs one context, and the first one needs no map to be made for it.
 */
export class ChildrenField implements PropertyCodec {
  readonly name: string
  readonly bin: string
  readonly bins: readonly string[] = NO_BINS
  readonly inline = 'other'
  readonly isCompared = true
  readonly isAssigned = false
  readonly isPlain = true
  readonly relation: RelationModel
  readonly codec: ChildCodec

  readonly #make: RelationFactory | undefined

  constructor(relation: RelationModel, codec: ChildCodec, make: RelationFactory | undefined) {
    this.#make = make
    this.name = relation.name
    this.bin = relation.bin!
    this.relation = relation
    this.codec = codec
  }

  /** An empty collection for a part that has none. */
  newCollection(part: object): Collection<object> {
    return this.#make!(part, this.relation, undefined, true) as Collection<object>
  }

  /** The key of a child in the map of the part that has it. */
  keyOf(id: KeyValue): string {
    return this.bin + CHILD_KEY_END + (id instanceof Uint8Array ? Buffer.from(id).toString('hex') : String(id))
  }

  /** True for the key of one of these children. */
  isKey(key: string): boolean {
    return key.startsWith(this.bin + CHILD_KEY_END)
  }

  /** The stored children in the map of a part. */
  storedIn(fields: Bins): readonly (readonly [key: string, stored: Value])[] {
    return Object.entries(fields).filter(([key]) => this.isKey(key)) as [string, Value][]
  }

  /** The children in the map of a part, as new instances. */
  childrenIn(fields: Bins): readonly object[] {
    const stored = this.storedIn(fields)
    if (stored.length === 0) return NO_PARTS
    return stored.map(([key, child]) => this.#at(key, () => this.#decoded(child)))
  }

  decode(): undefined {
    return undefined
  }

  encodeInto(fields: MutableBins, value: unknown, depth: number): void {
    checkCollection(value)
    for (const part of membersOf(value)) {
      const key = this.#keyOf(part)
      writeProperty(fields, key, this.#encode(key, part, depth))
    }
  }

  snapshot(value: unknown): KnownChildren {
    let known: Map<string, KnownChild> | undefined
    for (const part of membersOf(value)) {
      const id = this.codec.key!.keyOf(part)
      known ??= new Map()
      known.set(this.keyOf(id), { part, id, snapshot: this.codec.snapshot(part) })
    }
    return known ?? NO_CHILDREN
  }

  same(value: unknown, snapshot: unknown): boolean {
    if (isReplaced(value)) return false
    const known = (snapshot as KnownChildren | undefined) ?? NO_CHILDREN
    let count = 0
    for (const part of membersOf(value)) {
      const id = this.codec.key!.tryKeyOf(part)
      const before = id === null ? undefined : known.get(this.keyOf(id))
      if (before?.part !== part || !this.codec.same(part, before.snapshot)) return false
      count++
    }
    return count === known.size
  }

  /** Adds what brings the stored children up to date: whole new ones, single fields of those that were there, keys of those that go. */
  patch(value: unknown, snapshot: unknown, place: Place, changes: MapChanges): void {
    const known = (snapshot as KnownChildren | undefined) ?? NO_CHILDREN
    if (known.size > 0 || value !== undefined) checkCollection(value ?? null)
    const left = new Set(known.keys())
    const puts = new Map<string, object>()
    for (const part of membersOf(value)) {
      const key = this.#keyOf(part)
      left.delete(key)
      const before = known.get(key)
      if (before?.part === part)
        changes.change(this.#at(key, () => this.codec.patch(part, before.snapshot, under(place, key))))
      else puts.set(key, part)
    }
    for (const key of left) {
      const { part, id } = known.get(key)!
      for (const [now, put] of puts) if (put === part) throw this.#keyChanged(id, now)
      if (place.keeps?.has(part) !== true) changes.remove(key)
    }
    for (const [key, part] of puts) changes.put(key, this.#encode(key, part, depthOf(place) + 1))
  }

  advanceAdded(known: unknown, sent: unknown): KnownChildren {
    const now = (sent as KnownChildren | undefined) ?? NO_CHILDREN
    const advanced = [...((known as KnownChildren | undefined) ?? NO_CHILDREN)].map(([key, child]) => {
      const after = now.get(key)
      const isSame = after?.part === child.part
      const snapshot = isSame ? this.codec.advanceAdded(child.snapshot, after.snapshot) : undefined
      return [key, { ...child, snapshot: snapshot ?? child.snapshot }] as const
    })
    return new Map(advanced)
  }

  /** The children of a snapshot with those of an older one that are kept. */
  keep(snapshot: KnownChildren, older: KnownChildren, kept: ReadonlySet<object>): KnownChildren {
    const all = new Map(snapshot)
    for (const [key, child] of older) {
      const now = snapshot.get(key)
      if (kept.has(child.part)) all.set(key, child)
      else if (now?.part === child.part)
        all.set(key, { ...now, snapshot: this.codec.keepChildren(now.snapshot, child.snapshot, kept) })
    }
    return all
  }

  reread(snapshot: unknown): unknown {
    return snapshot
  }

  /** Never a bin of a record. */
  change(): readonly WriteOperation[] {
    return []
  }

  create(): void {}

  /** A child that lacks its id was written by another program. */
  #decoded(stored: Value): object {
    const part = this.codec.decode(stored)
    if (this.codec.key!.tryKeyOf(part) !== null) return part
    throw new ValueProblem(`a stored ${this.codec.name} has no id`, REPAIR)
  }

  #keyOf(part: object): string {
    return this.keyOf(this.codec.key!.keyOf(part))
  }

  #keyChanged(before: KeyValue, key: string): SkeinError {
    const now = key.slice(this.bin.length + CHILD_KEY_END.length)
    const message = `The key of ${this.codec.name} ${describeKey(before)} in ${this.name} was changed to ${describeKey(now)}.`
    const fix = 'A stored part keeps its key: add a new part and remove this one.'
    return new SkeinError('SKEIN_2203', message, { className: this.codec.name, key: before, fix })
  }

  #encode(key: string, part: object, level: number): Value {
    return this.#at(key, () => {
      if (level > MAX_CONTEXTS) throw tooDeep()
      return this.codec.encode(part, level)
    })
  }

  #at<T>(key: string, work: () => T): T {
    try {
      return work()
    } catch (error) {
      return throwUnder(keyStep(key.slice(this.bin.length + CHILD_KEY_END.length)), error)
    }
  }
}

const tooDeep = (): ValueProblem =>
  new ValueProblem(
    `children are at most ${MAX_CONTEXTS} levels deep: the server reaches no deeper, or the child contains itself`,
    'Store deeper ones in a record of their own.',
  )

/** True for what was assigned to the property of a collection. */
const isReplaced = (value: unknown): boolean =>
  value !== undefined && !(typeof value === 'object' && value !== null && CHILDREN in value)

/** Refuses what was assigned: the children that were there would be deleted, and those in it not stored. */
function checkCollection(value: unknown): void {
  if (isReplaced(value))
    throw new ValueProblem(
      `${shown(value)} was assigned, which replaced the Collection`,
      'Call its add(…) and remove(…) instead.',
    )
}

function membersOf(value: unknown): Iterable<object> {
  if (typeof value !== 'object' || value === null) return NO_PARTS
  return (value as { readonly [CHILDREN]?: Iterable<object> })[CHILDREN] ?? NO_PARTS
}
