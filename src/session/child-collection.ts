import { CHILDREN, readProperty, unstorable, type ChildCodec, type ChildrenField } from '../codec/index.js'
import { describeKey, type KeyValue } from '../keys/index.js'
import { refsOf, type Collection, type RelationModel } from '../model/index.js'
import { mapPutItems, mapRemoveKeys } from '../plan/operations.js'
import { badArgument } from '../records/handle-errors.js'
import type { Change } from '../records/change.js'
import type { Place } from '../records/place.js'
import type { ChildrenAccess, RecordTarget } from '../records/record-target.js'
import type { ChangedPart } from '../relations/contract/relation-strategy.js'
import { isEntity } from '../relations/contract/member.js'
import { findRefState } from '../relations/state/state-of.js'

/** A child of a record, or of another child, that has the collection. */
interface CollectionHolder {
  readonly target: RecordTarget
  readonly place: Place
  /** The collection of the record. */
  readonly relation: RelationModel
  readonly field: ChildrenField
  /** Collections on the path from the child of the record to this one. */
  readonly way: readonly string[]
  /** The loaded part that has the collection; undefined where it is not loaded. */
  loaded(): object | undefined
  /** Records a change, and the part that it adds, whose rules are checked. */
  readonly record: (change: Change, added?: Omit<ChangedPart, 'key'>) => void
  /** Lets a change wait until the child is read. */
  readonly edit: (change: Change, added?: Omit<ChangedPart, 'key'>) => void
  readonly isStored: (entity: object) => boolean
}

/** Children of a child, for a handle on them: a loaded child has them in its own collection, of another one only operations are recorded. */
export function childCollection(holder: CollectionHolder): ChildrenAccess {
  const { target, place, field } = holder
  const { codec } = field
  const idOf = (member: unknown): KeyValue =>
    isEntity(member as never) ? codec.key!.keyOf(member as object) : codec.key!.scheme.toKey(member)
  // Members that an inverse index lists are changed in a child that has been read: what leaves the index must be known.
  const record = isIndexed(holder) ? holder.edit : holder.record
  const collectionIn = (part: object): Collection<object> => readProperty(part, field.name) as Collection<object>
  return {
    isKey: (key) => field.isKey(key),
    keyOf: (member) => field.keyOf(idOf(member)),
    add(member) {
      const part = holder.loaded()
      if (part !== undefined) return collectionIn(part).add(member)
      if (!(member instanceof codec.model.class)) {
        const fix = `Add an instance of ${codec.model.name}.`
        throw badArgument(target, place.property, `'${field.name}' holds instances of ${codec.model.name}`, fix)
      }
      codec.key!.generate(member)
      const id = codec.key!.keyOf(member)
      checkTargets(holder, member)
      const operation = mapPutItems(place.bin, new Map([[field.keyOf(id), encoded(holder, member)]]), place.path)
      const apply = (into: unknown): void => collectionIn(into as object).add(member)
      const path = `.${field.name}[${describeKey(id)}]`
      record(
        { property: place.property, operation, apply },
        { part: member, below: { class: codec.model.class, path, id } },
      )
    },
    remove(member) {
      const part = holder.loaded()
      if (part !== undefined) return collectionIn(part).remove(idOf(member))
      const id = idOf(member)
      const operation = mapRemoveKeys(place.bin, [field.keyOf(id)], 'none', place.path)
      const apply = (from: unknown): void => {
        const found = [...childrenOf(from as object, field)].find((each) => field.keyOf(idOf(each)) === field.keyOf(id))
        if (found !== undefined) collectionIn(from as object).remove(found)
      }
      record({ property: place.property, operation, apply })
    },
  }
}

function encoded({ target, place, field }: CollectionHolder, member: object) {
  try {
    return field.codec.encode(member, place.path.length + 1)
  } catch (error) {
    throw unstorable(target.model, target.key, error)
  }
}

const childrenOf = (part: object, { name }: ChildrenField): Iterable<object> =>
  (readProperty(part, name) as { readonly [CHILDREN]?: Iterable<object> } | undefined)?.[CHILDREN] ?? []

/** A part and all parts in it. */
function* allIn(part: object, codec: ChildCodec): Iterable<{ readonly part: object; readonly codec: ChildCodec }> {
  yield { part, codec }
  for (const field of codec.children) for (const child of childrenOf(part, field)) yield* allIn(child, field.codec)
}

/** Rejects a new child that points to an unsaved entity: nothing would save that. */
function checkTargets({ target, place, field, isStored }: CollectionHolder, member: object): void {
  for (const { part, codec } of allIn(member, field.codec))
    for (const { name } of refsOf(codec.model)) {
      const to = findRefState(readProperty(part, name) ?? {})?.target ?? null
      if (!isEntity(to) || isStored(to)) continue
      const what = `${codec.model.name}.${name} points to an entity that is not stored yet`
      throw badArgument(target, place.property, what, 'Save that first, or load the child.')
    }
}

/** True where an inverse index lists what children in the collection point to. */
function isIndexed({ relation, field, way }: CollectionHolder): boolean {
  const names = [...way, field.name]
  return (relation.inverseIndexes ?? []).some(({ through = [] }) =>
    names.every((name, i) => name === (through[i] ?? through.at(-1))),
  )
}
