import { CHILDREN, embeddedParts, readProperty } from '../../codec/index.js'
import type { EmbeddableModel, Model, RelationModel } from '../../model/index.js'
import type { CollectionState } from './collection-state.js'
import type { RefState } from './ref-state.js'
import { findCollectionState, findRefState } from './state-of.js'

/** A class whose instances hold relations of their own or in parts. */
type Holder = Pick<EmbeddableModel, 'properties' | 'relations'>

/**
 * Returns a function that restores the Refs and Collections of an entity and of the parts in it: a transaction that is rolled back has
 * linked nothing.
 */
export function rememberRelations(entity: object, holder: Holder, model: Model): () => void {
  const states = new Set<RefState | CollectionState>()
  collectStates(entity, holder, model, states, new Set())
  const undo = [...states].map((state) => state.remember())
  return () => undo.forEach((each) => each())
}

type States = Set<RefState | CollectionState>

function collectStates(holding: object, of: Holder, model: Model, states: States, seen: Set<object>): void {
  if (seen.has(holding)) return
  seen.add(holding)
  const collect = (part: object, name: string): void => collectStates(part, model.embeddable(name), model, states, seen)
  for (const relation of of.relations) {
    const value = readProperty(holding, relation.name)
    if (typeof value === 'object' && value !== null) collectOf(value, relation, model, states, collect)
  }
  for (const { name, type } of of.properties)
    for (const part of embeddedParts(readProperty(holding, name), type))
      if (type.kind === 'embedded') collect(part, type.part)
}

/** The state of a Ref or Collection, and those in the attributes of its links and in the children that it holds. */
function collectOf(
  value: object,
  { target, attributes }: RelationModel,
  model: Model,
  states: States,
  collect: (part: object, name: string) => void,
): void {
  const [ref, list] = [findRefState(value), findCollectionState(value)]
  for (const state of [ref, list]) if (state !== undefined) states.add(state)
  if (list === undefined) return
  if (attributes !== undefined)
    for (const link of list.added.map((member) => list.links.get(member)))
      if (link !== undefined) collect(link.value, attributes)
  if (!model.embeddables.has(target)) return
  for (const child of (value as { readonly [CHILDREN]?: Iterable<object> })[CHILDREN] ?? []) collect(child, target)
}
