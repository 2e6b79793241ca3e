import type { EmbeddableModel, EntityModel } from '../model/index.js'
import type { WriteOperation } from '../plan/operation.js'
import { mapCreate } from '../plan/operations.js'
import type { Value } from '../plan/value.js'
import { ChildrenField, type ChildCodec, type KnownChildren } from './children-field.js'
import { checkPart, isPartOf } from './check-part.js'
import type { ClassFunctions } from './class-functions.js'
import type { EntityKey } from './entity-key.js'
import { CounterProperty } from './counter-property.js'
import { MapChanges } from './map-changes.js'
import { readProperty } from './own-property.js'
import { isMissing } from './property-codec.js'
import { RefField } from './ref-field.js'
import { rereadItem } from './reread-entries.js'
import type { BinProperty } from './bin-property.js'
import type { Place, TypeCodec } from './type-codec.js'
import { markUnsure } from './unsure-snapshots.js'
import { throwIn } from './value-problem.js'
import { notAList } from './types/list-type.js'
import { storedMap } from './types/map-type.js'

/** A part, stored as a map from field names to values. Of a changed part only the fields that changed are sent. */
export class PartCodec implements ChildCodec {
  readonly name: string
  readonly model: EmbeddableModel
  /** Id of the part, where it has one. */
  readonly key: EntityKey | undefined
  children: readonly ChildrenField[] = []
  #fields: readonly (BinProperty | ChildrenField)[] = []
  #functions!: ClassFunctions

  constructor(model: EmbeddableModel, key: EntityKey | undefined) {
    this.name = model.name
    this.model = model
    this.key = key
  }

  /** Separate from the constructor, because a part may contain parts of its own class. */
  complete(fields: readonly (BinProperty | ChildrenField)[], functions: ClassFunctions): void {
    this.#fields = fields
    this.children = fields.filter((field) => field instanceof ChildrenField)
    this.#functions = functions
  }

  /** Codec of the part as a list of its fields, in the order of their declaration; a change writes the whole list. */
  get asTuple(): TypeCodec {
    return {
      name: this.name,
      encode: (value, depth) => {
        const fields = this.#functions.dehydrate(this.#check(value, depth), depth + 1)
        return this.#fields.map(({ bin }) => fields[bin] ?? null)
      },
      decode: (stored) => {
        if (!Array.isArray(stored)) throw notAList(stored)
        const items = stored as readonly Value[]
        const fields = Object.fromEntries(this.#fields.map(({ bin }, i) => [bin, items[i] ?? null]))
        return this.#functions.hydrate(fields, undefined)
      },
      snapshot: (value) => this.snapshot(value),
      same: (value, snapshot) => this.same(value, snapshot),
    }
  }

  readonly isPart = true

  get nothing(): object {
    return this.#functions.snapshot({})
  }

  empty(bin: string): WriteOperation {
    return mapCreate(bin, 'ordered', false)
  }

  get hasCounters(): boolean {
    return this.#fields.some((field) => field instanceof CounterProperty)
  }

  encode(value: unknown, depth: number): Value {
    return this.#functions.dehydrate(this.#check(value, depth), depth + 1)
  }

  decode(stored: Value): object {
    return this.#functions.hydrate(storedMap(stored), undefined)
  }

  fill(instance: object, stored: Value): void {
    this.#functions.fill(instance, storedMap(stored), undefined)
  }

  snapshot(value: unknown): object {
    return this.#functions.snapshot(value as object)
  }

  same(value: unknown, snapshot: unknown): boolean {
    if (typeof value !== 'object' || value === null || !isPartOf(value, this.model.class)) return false
    return this.#functions.changed(value, snapshot as object) === undefined
  }

  hasSameFields(value: object, snapshot: object): boolean {
    const changed = this.#functions.changed(value, snapshot) ?? []
    return changed.every((index) => this.#fields[index] instanceof ChildrenField)
  }

  patch(value: unknown, snapshot: unknown, place: Place): readonly WriteOperation[] {
    const part = this.#check(value, place.path?.length ?? 0)
    const changes = new MapChanges(place)
    const before = (index: number): unknown => this.#functions.snapshotOf(snapshot as object, index)
    for (const index of this.#functions.changed(part, snapshot as object) ?? []) {
      const field = this.#fields[index]
      if (field instanceof ChildrenField) {
        this.#patchChildren(field, part, before(index), place, changes)
        continue
      }
      const now = field.storable(readProperty(part, field.name))
      try {
        if (isMissing(now)) changes.remove(field.bin)
        else if (field instanceof CounterProperty) changes.increment(field.bin, field.delta(now, before(index)))
        else changes.compare(field.bin, field.codec, now, before(index))
      } catch (error) {
        throwIn(field.name, error)
      }
    }
    return changes.operations()
  }

  advanceAdded(known: unknown, sent: unknown): object | undefined {
    const advanced = this.#functions.snapshot({})
    const start = (known as object | undefined) ?? this.nothing
    let hasAdded = known !== undefined
    for (const [index, field] of this.#fields.entries()) {
      const [before, now] = [start, sent].map((one) => this.#functions.snapshotOf(one as object, index))
      const after = advanceField(field, before, now)
      hasAdded ||= after !== undefined && !(field instanceof ChildrenField)
      this.#functions.setSnapshot(advanced, index, after)
    }
    return hasAdded ? advanced : undefined
  }

  reread(known: unknown, sent: unknown, stored: unknown): object {
    const reread = { ...(known as object) }
    for (const [index, field] of this.#fields.entries()) {
      if (field instanceof ChildrenField) continue
      const [before, wanted, now] = [known, sent, stored].map((one) => this.#functions.snapshotOf(one as object, index))
      this.#functions.setSnapshot(reread, index, rereadItem(field.codec, before, wanted, now))
    }
    return reread
  }

  knownChildren(snapshot: object, field: ChildrenField): KnownChildren {
    return this.#functions.snapshotOf(snapshot, this.#fields.indexOf(field)) as KnownChildren
  }

  targetOf(ref: string): EntityModel {
    return this.#fields.filter((field) => field instanceof RefField).find(({ name }) => name === ref)!.target
  }

  knownField(snapshot: object, name: string): unknown {
    const index = this.#fields.findIndex((field) => field.name === name)
    return this.#functions.snapshotOf(snapshot, index)
  }

  keepChildren(snapshot: object, older: object, kept: ReadonlySet<object>): object {
    return this.children.reduce((all, field) => {
      const [now, before] = [snapshot, older].map((one) => this.knownChildren(one, field))
      return this.withChildren(all, field, field.keep(now, before, kept))
    }, snapshot)
  }

  withFields(snapshot: object, other: object, bins: ReadonlySet<string>): object {
    const changed = { ...snapshot }
    for (const [index, field] of this.#fields.entries())
      if (bins.has(field.bin)) this.#functions.setSnapshot(changed, index, this.#functions.snapshotOf(other, index))
    return changed
  }

  withChildren(snapshot: object, field: ChildrenField, children: KnownChildren): object {
    const changed = { ...snapshot }
    this.#functions.setSnapshot(changed, this.#fields.indexOf(field), children)
    return changed
  }

  #check(value: unknown, depth: number): object {
    return checkPart(value, depth, this.model.class)
  }

  #patchChildren(field: ChildrenField, part: object, before: unknown, place: Place, changes: MapChanges): void {
    try {
      field.patch(readProperty(part, field.name), before, place, changes)
    } catch (error) {
      throwIn(field.name, error)
    }
  }
}

/** Snapshot of a field after a write in doubt: see `TypeCodec.advanceAdded`. */
function advanceField(field: BinProperty | ChildrenField, before: unknown, now: unknown): unknown {
  if (field instanceof ChildrenField) return field.advanceAdded(before, now)
  if (field instanceof CounterProperty) return now
  const added = now === undefined ? undefined : field.codec.advanceAdded?.(before, now)
  return before === undefined ? markUnsure(added) : (added ?? before)
}
