import { readProperty } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import type { Cascade } from '../contract/contributor.js'
import { isEntity, isNew } from '../contract/member.js'
import type { LinkClass } from '../contract/link-class.js'
import type { Reader } from '../contract/reader.js'
import type { LoadedLevel } from '../contract/relation-strategy.js'
import type { Tracked } from '../contract/tracked.js'
import { loadListed } from '../read/load-key-lists.js'
import { findFar, levelsThrough } from '../read/load-links.js'
import { forgetLinksToSend, isMade, linksToSend } from '../state/links-to-send.js'
import type { CollectionState } from '../state/collection-state.js'
import { collectionStateOf, refStateOf } from '../state/state-of.js'
import { KeyListStrategy } from './key-list-strategy.js'
import { SecondaryIndexStrategy } from './secondary-index-strategy.js'

// Link records are children of both their ends. What differs from other children: people see the far ends in their place.

/** Links that an end finds by a list of their keys. */
export class LinkListStrategy extends KeyListStrategy {
  readonly links: LinkClass

  constructor(model: RelationModel, owner: EntityModel, target: EntityModel, inverse: RelationModel, links: LinkClass) {
    super(model, owner, target, inverse, links.owners)
    this.links = links
  }

  override hasChanges(tracked: Tracked): boolean {
    return super.hasChanges(tracked) || hasLinksToSend(tracked, this.relation)
  }

  override cascade(tracked: Tracked, reach: Cascade, reader: Reader, listed?: readonly KeyValue[]): Promise<void> {
    const { model, links } = this
    reachLinks(tracked, this.relation, links, reach, reader)
    if (!takesEnded(links, reach)) return super.cascade(tracked, reach, reader, listed)
    if (model.onDelete !== 'restrict') return super.cascade(tracked, reach, reader.withDeleted(), listed)
    return super.cascade(tracked, reach, reader, listed).then(async () => {
      for (const ended of await reader.withDeleted('only').find(links.model, listed ?? []))
        if (ended !== null) reach.remove(ended.entity)
    })
  }

  override load(level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]> {
    const { model, links, store } = this
    const beside = (keys: readonly KeyValue[]): Promise<unknown> => findFar(links, keys, reader, along)
    return loadListed(model, links.model, level, reader, store, along === undefined ? {} : { beside })
  }

  loadInside(level: readonly Tracked[], reader: Reader, paths: readonly string[]): Promise<readonly LoadedLevel[]> {
    return levelsThrough(this.relation, this.links, level, reader, paths)
  }
}

/** Links that an end finds by an index on their reference to it. */
export class LinkIndexStrategy extends SecondaryIndexStrategy {
  readonly links: LinkClass

  constructor(model: RelationModel, owner: EntityModel, target: EntityModel, inverse: RelationModel, links: LinkClass) {
    super(model, owner, target, inverse, links.owners)
    this.links = links
  }

  override hasChanges(tracked: Tracked): boolean {
    return super.hasChanges(tracked) || hasLinksToSend(tracked, this.relation)
  }

  override cascade(tracked: Tracked, reach: Cascade, reader: Reader): Promise<void> {
    const { model, links } = this
    reachLinks(tracked, this.relation, links, reach, reader)
    if (!takesEnded(links, reach)) return super.cascade(tracked, reach, reader)
    if (model.onDelete !== 'restrict') return super.cascade(tracked, reach, reader.withDeleted())
    return super.cascade(tracked, reach, reader).then(async () => {
      for await (const { found } of reader.withDeleted('only').foundBy(this.lookup(tracked)))
        for (const { entity } of found) reach.remove(entity)
    })
  }

  loadInside(level: readonly Tracked[], reader: Reader, paths: readonly string[]): Promise<readonly LoadedLevel[]> {
    return levelsThrough(this.relation, this.links, level, reader, paths)
  }
}

/** True where links that were ended before go too, because an end of theirs goes for good; they forbid no delete. */
const takesEnded = ({ model }: LinkClass, { isForGood }: Cascade): boolean => isForGood && model.deletedAt !== undefined

const stateOf = ({ entity }: Tracked, relation: string): CollectionState =>
  collectionStateOf(readProperty(entity, relation) as object)

const hasLinksToSend = (tracked: Tracked, relation: string): boolean =>
  linksToSend(stateOf(tracked, relation)) !== undefined

/**
 * Reaches links that the owner's save concerns. One that the collection has made replaces what may be stored between its ends, where these were stored
 * before; where it is not wanted any more, that is deleted.
 */
function reachLinks(tracked: Tracked, relation: string, links: LinkClass, reach: Cascade, reader: Reader): void {
  if (tracked.state === 'removed') return
  const state = stateOf(tracked, relation)
  for (const link of state.addedEntities.filter((each) => isNew(each, reader))) {
    if (isLeaving(link, links, reader)) leave(link, state, reach, reader)
    else if (isMade(link)) reach.save(link, tracked.state !== 'new' && !isToNew(link, links, reader))
  }
  const { changed, dropped } = linksToSend(state) ?? NOTHING
  for (const link of changed) if (!state.isRemoved(link) && !isNew(link, reader)) reach.save(link)
  for (const link of dropped) {
    const key = state.keyOf(link)
    reach.remove(link)
    if (reader.tracked(link) === undefined && key !== null) state.remove(key)
  }
  if (!reach.isPreview) forgetLinksToSend(state)
}

/** True for a link whose other end is to be deleted: what is stored of it goes with that end. */
const isLeaving = (link: object, links: LinkClass, reader: Reader): boolean =>
  farEnd(link, links, reader)?.state === 'removed'

/** True for a link to an end that is stored with it: there can be no other between the two yet. */
function isToNew(link: object, links: LinkClass, reader: Reader): boolean {
  const end = refStateOf(readProperty(link, links.far) as object).target
  return isEntity(end) ? isNew(end, reader) : farEnd(link, links, reader)?.state === 'new'
}

function farEnd(link: object, { far, target }: LinkClass, reader: Reader): Tracked | undefined {
  const end = refStateOf(readProperty(link, far) as object).target
  if (end === null) return undefined
  return isEntity(end) ? reader.tracked(end) : reader.known(target.name, end)
}

/** Forgets a link that is not stored, unless its other end stays after all. */
function leave(link: object, state: CollectionState, reach: Cascade, reader: Reader): void {
  if (reader.tracked(link) !== undefined) reach.remove(link)
  reach.onRollback(state.tentatively(link, () => state.mark(link, undefined), reach.isPreview))
}

const NOTHING = { changed: new Set<object>(), dropped: new Set<object>() }
