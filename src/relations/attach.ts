import { readProperty, writeProperty } from '../codec/index.js'
import type { KeyValue } from '../keys/index.js'
import type { RelationModel } from '../model/index.js'
import type { Bins } from '../plan/command.js'
import type { UserKey } from '../plan/record-key.js'
import { EntityCollection } from './collection.js'
import type { Tracked } from './contract/tracked.js'
import type { MemberStore } from './contract/member-store.js'
import type { Reader } from './contract/reader.js'
import type { Binding } from './contract/binding.js'
import type { LinkClass } from './contract/link-class.js'
import { isEntity, type Member } from './contract/member.js'
import type { CollectionState } from './state/collection-state.js'
import { LinkedMembers } from './state/linked-members.js'
import { EntityRef } from './ref.js'
import { collectionStateOf, findCollectionState, findRefState, refStateOf } from './state/state-of.js'
import { isKeyOf, unreadableRef } from './contract/stored-keys.js'
import type { RelationStrategy } from './contract/relation-strategy.js'

/** Bins read of a record, for the relations that are stored in it. */
export interface ReadBins {
  readonly bins: Bins
  readonly isRead: (bin: string) => boolean
  /** Nothing is loaded along: members that are asked for later are read then. */
  readonly isAlone?: boolean
}

/** Gives an entity that has just become managed its Refs and Collections, bound to the session; those it has stay the same objects. */
export function attachRelations(
  tracked: Tracked,
  strategies: readonly RelationStrategy[],
  reader: Reader,
  stored?: ReadBins,
): void {
  for (const strategy of strategies) {
    const relation = strategy.model
    const binding = { tracked, relation, reader, strategy }
    if (relation.holds === 'ref') {
      const state = refStateOf(refOf(tracked.entity, relation))
      if (stored === undefined) state.startAnew()
      else takeKey(binding, state, stored)
      state.bind(binding)
    } else {
      const state = collectionStateOf(collectionOf(tracked.entity, relation))
      const given = strategy.links && takeGiven(state, strategy.links)
      if (stored === undefined) state.startAnew()
      else takeMembers(strategy, state, stored)
      state.bind(binding)
      if (given !== undefined && given.length > 0) linkGiven(given, state, binding, strategy.links!)
      const [bin] = strategy.bins as readonly (string | undefined)[]
      const isRead = bin !== undefined && stored?.isRead(bin) === true
      strategy.attached?.(tracked, reader, isRead ? stored?.bins[bin] : undefined, isRead)
      if (stored !== undefined) learnScheme(tracked, strategy, stored)
    }
  }
}

/** Buckets that are remembered of an owner which is only loaded: a list of many costs more than a round trip saves. */
const MOST_LISTED = 64

/** Takes over where the owner's record says that its members are, so that it need not be asked again. */
function learnScheme({ key }: Tracked, strategy: RelationStrategy, { bins, isRead }: ReadBins): void {
  const apart = membersApart(strategy)
  if (apart === undefined || !apart.schemeBins.every(isRead)) return
  if (apart.schemeBins.some((name) => Array.isArray(bins[name]) && bins[name].length > MOST_LISTED)) return
  try {
    apart.learn(key, bins)
  } catch {
    // Something else is stored there: questions about the members tell so.
  }
}

/** Says where members are that are not in their owner's record, or may not be. */
export function membersApart({
  store,
  inside,
}: RelationStrategy): Pick<MemberStore, 'schemeBins' | 'learn' | 'growing'> | undefined {
  const apart = store ?? inside?.apart
  return apart === undefined || apart.schemeBins.length === 0 ? undefined : apart
}

/** Marks all collections as unread: the record may already exist with members. */
export function forgetMembers({ entity }: Tracked, strategies: readonly RelationStrategy[]): void {
  for (const { model } of strategies) {
    if (model.holds === 'collection') collectionStateOf(readProperty(entity, model.name) as object).loaded.clear()
  }
}

/** Returns a function that removes again what was removed from collections before a session took the entity in. */
export function removalsOf(
  entity: object,
  strategies: readonly RelationStrategy[],
): (isKnown: (member: object) => boolean) => void {
  const removals = strategies.flatMap(({ model: { holds, name }, links }) => {
    const value = holds === 'collection' ? readProperty(entity, name) : undefined
    const state = typeof value === 'object' && value !== null ? findCollectionState(value) : undefined
    if (state === undefined || state.removed.length === 0) return []
    return [{ state, removed: state.removed, links: state.binding === undefined ? links : undefined }]
  })
  return (isKnown) => {
    for (const { state, removed, links } of removals)
      for (const member of removed) {
        if (links !== undefined) {
          new LinkedMembers(state, state.binding!, links).remove(member)
          continue
        }
        // An entity that this session does not manage would be saved as a new one.
        const gone = isEntity(member) && !isKnown(member) ? (state.keyOf(member) ?? member) : member
        if (!state.isAdded(gone)) state.remove(gone)
      }
  }
}

/** Throws where what is stored of a relation cannot be read, so that nobody takes over half of it. */
export function checkRelations(
  tracked: Tracked,
  strategies: readonly RelationStrategy[],
  reader: Reader,
  stored: ReadBins,
): void {
  for (const strategy of strategies) {
    const { holds } = strategy.model
    const [bin] = strategy.bins as readonly (string | undefined)[]
    if (holds === 'ref') keyIn({ tracked, relation: strategy.model, reader }, stored)
    else if (bin !== undefined && stored.isRead(bin)) strategy.check?.(tracked, stored.bins[bin], reader)
  }
}

/** An entity of which only a part was loaded has got the rest: what was not known of its relations is known now. */
export function completeRelations(
  tracked: Tracked,
  strategies: readonly RelationStrategy[],
  reader: Reader,
  stored: ReadBins,
): void {
  const { entity } = tracked
  for (const strategy of strategies) {
    const relation = strategy.model
    if (relation.holds === 'ref') {
      const state = refStateOf(refOf(entity, relation))
      if (!state.isRead) takeKey({ tracked, relation, reader }, state, stored, false)
      else learnKey(state, keyIn({ tracked, relation, reader }, stored))
    } else {
      const state = collectionStateOf(collectionOf(entity, relation))
      const [bin] = strategy.bins as readonly (string | undefined)[]
      // Relations that the record says nothing of stay as they are: handles may have recorded changes there.
      if (bin === undefined || !stored.isRead(bin)) continue
      if (strategy.completed !== undefined) strategy.completed(tracked, stored.bins[bin])
      else if (!state.isChanged && state.loaded.members === undefined) takeMembers(strategy, state, stored)
    }
  }
}

/** Members that were given before a session had their owner: links are made of them once it is known that there are some. */
function takeGiven(state: CollectionState, { model }: LinkClass): readonly [Member, object][] {
  if (state.binding !== undefined) return []
  const members = state.added.filter((member) => !(member instanceof model.class))
  return members.map((member) => {
    const values = state.links.get(member)?.value ?? {}
    state.links.delete(member)
    state.mark(member, undefined)
    return [member, values]
  })
}

function linkGiven(
  given: readonly [Member, object][],
  state: CollectionState,
  binding: Binding,
  links: LinkClass,
): void {
  const members = new LinkedMembers(state, binding, links)
  for (const [member] of given) members.check(member)
  for (const [member, values] of given) members.add(member, values)
}

function refOf(entity: object, { name }: RelationModel): object {
  const present = readProperty(entity, name) as EntityRef<object> | undefined
  if (present !== undefined && findRefState(present) !== undefined) return present
  const made = new EntityRef<object>()
  if (present !== undefined) made.set(present.key)
  writeProperty(entity, name, made)
  return made
}

function collectionOf(entity: object, { name }: RelationModel): object {
  const present = readProperty(entity, name) as EntityCollection<object> | undefined
  if (present !== undefined && findCollectionState(present) !== undefined) return present
  const made = new EntityCollection<object>()
  if (present !== undefined) made.add(...present.items)
  writeProperty(entity, name, made)
  return made
}

interface RefPlace {
  readonly tracked: Tracked
  readonly relation: RelationModel
  readonly reader: Reader
}

function takeKey(place: RefPlace, state: ReturnType<typeof refStateOf>, stored: ReadBins, restoresOthers = true): void {
  const key = keyIn(place, stored)
  if (key === undefined) state.unread()
  else state.takeStored(key, restoresOthers)
}

/** Undefined where it was not read. Without a bin the other has the same key, and only reading it tells whether it is there. */
function keyIn({ tracked, relation, reader }: RefPlace, { bins, isRead }: ReadBins): KeyValue | null | undefined {
  const { name, bin, target: className } = relation
  if (bin === undefined || !isRead(bin)) return undefined
  const key = bins[bin] as UserKey | null | undefined
  if (key === undefined || key === null) return null
  const target = reader.entityModel(className)
  if (!isKeyOf(target, key))
    throw unreadableRef({ model: tracked.model, key: tracked.key, property: name }, className, key)
  return reader.fromStored(target, key)
}

/** Undefined where it was not read. */
function learnKey(state: ReturnType<typeof refStateOf>, key: KeyValue | null | undefined): void {
  if (key !== undefined) state.learnStored(key)
}

function takeMembers(
  strategy: RelationStrategy,
  state: ReturnType<typeof collectionStateOf>,
  { bins, isRead, isAlone = false }: ReadBins,
): void {
  const [bin] = strategy.bins as readonly (string | undefined)[]
  state.reset()
  if (!isAlone && bin !== undefined && isRead(bin)) state.loaded.takeBin(bins[bin] ?? [])
}
