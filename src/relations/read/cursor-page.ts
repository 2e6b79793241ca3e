import type { RelationModel } from '../../model/index.js'
import type { Binding } from '../contract/binding.js'
import type { CollectionView } from '../contract/collection-members.js'
import { pagedByCursor } from '../contract/companion-errors.js'
import { pagedOtherwise } from '../contract/relation-errors.js'
import type { CollectionState } from '../state/collection-state.js'
import { entitiesOf } from './added-members.js'
import type { Page } from '../../model/related.js'

/**
 * A page of a collection whose members have positions. What this session added and has not sent stands before what is stored; what it
 * removed is left out, so that a page may be shorter than asked for.
 */
export async function pageAfter(
  state: CollectionState,
  binding: Binding,
  count: number,
  after: string | undefined,
): Promise<Page<object>> {
  const shown = addedBefore(after)
  const members = shown === undefined ? [] : state.added.slice(shown, shown + count)
  const added = await entitiesOf(members, binding)
  if (members.length === count) return pageOf(added, showAdded(shown! + count))
  const { tracked, reader, strategy } = binding
  const from = shown === undefined ? after : undefined
  const { found, next } = await strategy.members!.byPosition!.page(tracked, reader, count - members.length, from)
  const stored = found.map(({ entity }) => entity).filter((entity) => !state.isMarked(entity))
  return pageOf([...added, ...stored], next)
}

/** A page of members that are stored with their owner, by its number or after a cursor. */
export async function pageOfParts(
  view: CollectionView,
  relation: RelationModel,
  offset: number,
  count: number,
  after: string | undefined,
): Promise<Page<object>> {
  if (view.pageAfter === undefined) {
    if (after !== undefined) throw pagedOtherwise(relation, 'offset')
    return view.page({ offset, count })
  }
  if (after !== undefined && offset !== 0) throw pagedByCursor(relation)
  if (offset !== 0 || count === 0) return view.page({ offset, count })
  const { members, next } = await view.pageAfter(count, after)
  return pageOf([...members], next)
}

/** Not a member of the list, so that a page compares and prints as what it holds. */
function pageOf(members: object[], next: string | undefined): Page<object> {
  return Object.defineProperty(members, 'next', { value: next })
}

/** A position before all that is stored: so many of the added are on earlier pages. Too short to be one of a query. */
const showAdded = (count: number): string => `added-${count}`

/** Undefined for a position among what is stored. */
function addedBefore(after: string | undefined): number | undefined {
  if (after === undefined) return 0
  const [, count] = (typeof after === 'string' && /^added-(\d{1,15})$/.exec(after)) || []
  return count === undefined ? undefined : Number(count)
}
