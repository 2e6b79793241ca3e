import type { Binding } from './binding.js'
import type { CollectionState } from './collection-state.js'
import type { Page } from '../model/related.js'

/**
 * A page of a collection whose members have positions. What this session added and has not sent stands before the first page; what it
 * removed is left out, so that a page may be shorter than asked for.
 */
export async function pageAfter(
  state: CollectionState,
  { tracked, reader, strategy }: Binding,
  count: number,
  after: string | undefined,
): Promise<Page<object>> {
  const { found, next } = await strategy.members!.byPosition!.page(tracked, reader, count, after)
  const stored = found
    .map(({ entity }) => entity)
    .filter((entity) => !state.removed.has(entity) && !state.added.has(entity))
  const page = after === undefined ? [...state.added.entities, ...stored] : stored
  // Not a member of the list, so that a page compares and prints as what it holds.
  return Object.defineProperty(page, 'next', { value: next })
}
