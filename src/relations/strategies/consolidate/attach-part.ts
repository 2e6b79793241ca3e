import { readProperty, writeProperty, type ChildrenField, type ChildCodec } from '../../../codec/index.js'
import { SkeinError } from '../../../errors/index.js'
import { describeKey } from '../../../keys/index.js'
import type { Collection } from '../../../model/index.js'
import { findCollectionState } from '../../state/state-of.js'
import { NestedParts } from './nested-parts.js'
import { NestedStrategy } from './nested-strategy.js'
import { PartClass } from './part-class.js'
import { holdPart, type RootParts } from './part-holders.js'
import { attachRefs } from './part-refs.js'

const CLASSES = new WeakMap<ChildrenField, PartClass>()

/** Ties a part, and the parts in it, to the session of its record. `isRead`: it is as the record has it. */
export function attachPart(part: object, table: RootParts, isRead: boolean): void {
  attach(part, table.parts.codec, { table, root: part, isRead }, [])
}

/** The children that a property of an attached part holds. */
export function nestedIn(collection: unknown): NestedParts | undefined {
  const held =
    typeof collection === 'object' && collection !== null ? findCollectionState(collection)?.parts : undefined
  return held instanceof NestedParts ? held : undefined
}

interface Root {
  readonly table: RootParts
  readonly root: object
  readonly isRead: boolean
}

function attach(part: object, codec: ChildCodec, at: Root, above: readonly object[]): void {
  if (above.includes(part)) throw insideItself(part, codec)
  attachRefs(part, codec.model, at.table.owner, at.table.reader)
  for (const field of codec.children) attachChildren(part, codec, field, at, [...above, part])
}

function attachChildren(
  part: object,
  codec: ChildCodec,
  field: ChildrenField,
  at: Root,
  above: readonly object[],
): void {
  const { table, root, isRead } = at
  const state = findCollectionState(collectionOf(part, field))!
  const held = state.parts instanceof NestedParts ? state.parts : undefined
  const members = held === undefined ? state.added : [...held.members]
  if (held?.table === table && held.root === root) {
    held.above = above
    for (const member of held.members) attach(member, field.codec, at, above)
    return
  }
  let parts = CLASSES.get(field)
  if (parts === undefined) CLASSES.set(field, (parts = new PartClass(field.relation, codec.model, field.codec)))
  const nested = new NestedParts(parts, table, above, (child, around) =>
    attach(child, field.codec, { table, root, isRead: false }, around),
  )
  for (const member of [...state.added, ...state.removed]) state.mark(member, undefined)
  const { owner: tracked, reader } = table
  const strategy = new NestedStrategy(nested, reader)
  state.holdParts(nested)
  state.bind({ tracked, className: codec.model.name, relation: field.relation, reader, strategy })
  for (const member of members) {
    nested.take(member)
    if (!isRead) holdPart(member as object, nested)
  }
}

/** The collection of a part; a plain object that is given as one may have a list, or nothing. */
function collectionOf(part: object, field: ChildrenField): object {
  const present = readProperty(part, field.name)
  if (typeof present === 'object' && present !== null && findCollectionState(present) !== undefined) return present
  const made = field.newCollection(part)
  const given = (present as Partial<Collection<object>> | undefined)?.items ?? present
  if (Array.isArray(given)) made.add(...(given as object[]))
  writeProperty(part, field.name, made)
  return made
}

function insideItself(part: object, { name, key }: ChildCodec): SkeinError {
  const id = key!.tryKeyOf(part)
  const which = id === null ? `A ${name}` : `${name} ${describeKey(id)}`
  return new SkeinError('SKEIN_2427', `${which} was added below itself.`, {
    className: name,
    key: id ?? undefined,
    fix: 'Take it out where it was first, or add another one.',
  })
}
