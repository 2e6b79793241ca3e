import { CHILDREN, readProperty, type ChildrenField, type ChildCodec } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'

/** A part inside another one. */
export interface PartBelow {
  readonly part: object
  readonly codec: ChildCodec
  /** The part that has it; absent for the outermost one. */
  readonly parent?: object
  /** The collections on the path to it and its id in each, outermost first. */
  readonly steps: readonly PartStep[]
}

export interface PartStep {
  readonly field: ChildrenField
  readonly id: KeyValue
}

const NO_STEPS: readonly PartStep[] = Object.freeze([])

/** A part and all parts in it, at every level. */
export function* partsIn(part: object, codec: ChildCodec, steps = NO_STEPS, parent?: object): Iterable<PartBelow> {
  yield { part, codec, steps, ...(parent !== undefined && { parent }) }
  for (const field of codec.children)
    for (const child of childrenOfPart(part, field))
      yield* partsIn(child, field.codec, [...steps, { field, id: field.codec.key!.keyOf(child) }], part)
}

/** Parts inside a part as a snapshot knows them, at every level. */
export function* knownBelow(codec: ChildCodec, snapshot: object): Iterable<object> {
  for (const field of codec.children)
    for (const known of codec.knownChildren(snapshot, field).values()) {
      yield known.part
      yield* knownBelow(field.codec, known.snapshot)
    }
}

/** Parts inside a part that are new or whose own fields changed, at every level. */
export function* changedBelow(
  part: object,
  codec: ChildCodec,
  snapshot: object | undefined,
  steps = NO_STEPS,
): Iterable<PartBelow> {
  for (const field of codec.children) {
    const known = snapshot === undefined ? undefined : codec.knownChildren(snapshot, field)
    for (const child of childrenOfPart(part, field)) {
      const id = field.codec.key!.keyOf(child)
      const entry = known?.get(field.keyOf(id))
      const before = entry?.part === child ? entry.snapshot : undefined
      if (before !== undefined && field.codec.same(child, before)) continue
      const below = [...steps, { field, id }]
      if (before === undefined || !field.codec.hasSameFields(child, before))
        yield { part: child, codec: field.codec, steps: below, parent: part }
      yield* changedBelow(child, field.codec, before, below)
    }
  }
}

/** The children that a part has now in one of its collections. */
export function childrenOfPart(part: object, { name }: ChildrenField): Iterable<object> {
  const collection = readProperty(part, name) as { readonly [CHILDREN]?: Iterable<object> } | null | undefined
  return collection?.[CHILDREN] ?? []
}
