import { readProperty } from '../../codec/index.js'
import type { Collection, Ref } from '../../model/related.js'
import { CollectionState } from './collection-state.js'
import { RefState } from './ref-state.js'
import { setSide, sideOf } from './relation-side.js'
import type { Tracked } from '../contract/tracked.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'
import { SkeinError } from '../../errors/index.js'
import { describeKey } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import type { Reader } from '../contract/reader.js'
import { isEntity, isCollection, isRef, type Member } from '../contract/member.js'
import { wrongClass } from '../contract/relation-errors.js'

// Kept beside the objects and not on them: what people see of a Ref or a Collection is only what they can use.

export function setRefState(ref: Ref<object>, state: RefState): void {
  setSide(ref, state)
}

export function setCollectionState(collection: Collection<object>, state: CollectionState): void {
  setSide(collection, state)
}

/** Undefined for one that another copy of the package made. */
export function findRefState(ref: object): RefState | undefined {
  const side = sideOf(ref)
  return side instanceof RefState ? side : undefined
}

export function findCollectionState(collection: object): CollectionState | undefined {
  const side = sideOf(collection)
  return side instanceof CollectionState ? side : undefined
}

/** True for what belongs to an entity that a session manages. */
export function isBound(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return (findRefState(value) ?? findCollectionState(value))?.binding !== undefined
}

export const refStateOf = (ref: object): RefState => sideOf(ref) as RefState
export const collectionStateOf = (collection: object): CollectionState => sideOf(collection) as CollectionState

/** An entity whose changes are being sent, and how its relations are stored. */
export interface Sent {
  readonly tracked: Tracked
  readonly strategies: readonly RelationStrategy[]
}

/** Marks changed Refs and Collections as being sent, so that what is changed meanwhile is not taken for sent; returns what ends it. */
export function beginSending(entities: Iterable<Sent>): () => void {
  const states = [...entities].flatMap(changedStates)
  for (const state of states) state.beginSending()
  return () => states.forEach((state) => state.endSending())
}

function changedStates({ tracked, strategies }: Sent): (CollectionState | RefState)[] {
  return strategies.flatMap((strategy) => {
    const state = stateOf(tracked, strategy)
    return state?.isChanged === true ? [state] : []
  })
}

/** Undefined where its members are not entities, but stored with their owner. */
export function stateOf(
  { entity }: Tracked,
  { model: { name, holds }, keyOf }: RelationStrategy,
): RefState | CollectionState | undefined {
  const value = keyOf === undefined ? readProperty(entity, name) : undefined
  if (typeof value !== 'object' || value === null) return undefined
  return holds === 'ref' ? findRefState(value) : findCollectionState(value)
}

/** True when a Ref or Collection is changed, as people see it: without the changes of an `explain` that is under way. */
export const hasShownChanges = (state: RefState | CollectionState): boolean => state.asShown(() => state.isChanged)

/** Refuses an entity whose Ref or Collection was replaced by an assignment: what it held before could not be told from what is wanted now. */
export function checkHolders(entity: object, model: EntityModel): void {
  for (const relation of model.relations) {
    const holder = readProperty(entity, relation.name)
    if (relation.holds === 'ref' ? !isRef(holder) : !isCollection(holder)) throw assigned(entity, model, relation)
  }
}

/** Checks a new entity, whose missing Refs and Collections are made only now. */
export function checkNewHolders(entity: object, model: EntityModel): void {
  for (const relation of model.relations) {
    const holder = readProperty(entity, relation.name)
    if (holder === undefined) continue
    if (relation.holds === 'ref' ? !isRef(holder) : !isCollection(holder)) throw assigned(entity, model, relation)
  }
}

function assigned(entity: object, model: EntityModel, { name, holds, target }: RelationModel): SkeinError {
  const [key] = model.key.properties.map((property) => readProperty(entity, property))
  const isKey = typeof key === 'string' || typeof key === 'number' || typeof key === 'bigint'
  const of = isKey ? ` of ${describeKey(key)}` : ''
  const variable = model.name.charAt(0).toLowerCase() + model.name.slice(1)
  const [holder, fix] =
    holds === 'ref'
      ? ['Ref', `Write ${variable}.${name}.set(…) with a ${target}, its key or null.`]
      : [
          'Collection',
          `Write ${variable}.${name}.add(…) and ${variable}.${name}.remove(…) with a ${target} or its key.`,
        ]
  return new SkeinError('SKEIN_2411', `${model.name}.${name}${of} was assigned, which replaced its ${holder}.`, {
    className: model.name,
    property: name,
    key: isKey ? key : undefined,
    fix,
  })
}

/** Refuses entities of another class than the relation's: their keys would be stored as if they were the target's. */
export function checkMembers(owner: Tracked, strategies: readonly RelationStrategy[], reader: Reader): void {
  for (const { model: relation, keyOf } of strategies) {
    // Parts are checked when they are stored.
    if (keyOf !== undefined) continue
    const related = readProperty(owner.entity, relation.name) as object
    const members: Iterable<Member | null> =
      relation.holds === 'ref' ? [refStateOf(related).target] : collectionStateOf(related).added
    for (const member of members) {
      if (isEntity(member) && !(member instanceof reader.entityModel(relation.target).class))
        throw wrongClass(owner, relation, member)
    }
  }
}

/** The reference of a child to its parent. */
export function parentRef(child: object, inverse: RelationModel): RefState {
  return refStateOf(readProperty(child, inverse.name) as object)
}

/** True when the child's own record says that it belongs here, and nobody has changed that since. */
export function isHere(child: object, inverse: RelationModel, parent: Tracked, reader: Reader): boolean {
  const ref = parentRef(child, inverse)
  return ref.isStored && ref.isStoredAs(reader.keyOf(parent.entity, inverse.target)!)
}

/** True for an entity taken out of its collection while no write replaces what the record says. */
export const isTakenOut = (tracked: Tracked | undefined, ref: RefState): boolean =>
  tracked?.state === 'stored' && tracked.overwrite !== true && ref.isTakenOut
