import type { Page } from '../../model/related.js'
import type { Binding } from '../contract/binding.js'
import { pagedOtherwise } from '../contract/relation-errors.js'
import type { CollectionState } from '../state/collection-state.js'
import { noNumbers } from './asked-collection.js'
import { pageAfter } from './cursor-page.js'
import { linkedPage, linkedPageAfter, linksUnder, streamLinked, type LinkedCollection } from './linked-questions.js'
import { memberKeys, memberPage } from './pending-overlay.js'
import { streamMembers } from './stream-members.js'

interface AskedPage {
  readonly offset: number
  readonly count: number
  readonly after: string | undefined
}

/** A page of members, by their numbers or after a cursor, as the collection is stored. */
export function askPage(
  state: CollectionState,
  binding: Binding,
  links: LinkedCollection | undefined,
  { offset, count, after }: AskedPage,
): Promise<Page<object>> {
  if (binding.strategy.members?.byPosition === undefined) {
    if (after !== undefined) throw pagedOtherwise(binding.relation, 'offset')
    const range = { offset, count }
    return links === undefined ? memberPage(state, binding, range) : linkedPage(links, range)
  }
  if (offset !== 0) throw noNumbers(binding)
  return links === undefined ? pageAfter(state, binding, count, after) : linkedPageAfter(links, count, after)
}

/** All members with those that were deleted softly, or only these; what the collection has loaded stays as it is. */
export async function askShown(
  state: CollectionState,
  binding: Binding,
  links: LinkedCollection | undefined,
): Promise<object[]> {
  const keys = await memberKeys(state, binding)
  if (links !== undefined) return linksUnder(links, keys)
  const { reader, relation } = binding
  const found = (await reader.find(reader.entityModel(relation.target), keys)).filter((member) => member !== null)
  await state.binding!.reader.load(found)
  return found.map(({ entity }) => entity)
}

/** All members, a bounded number in memory. */
export function askStream(
  state: CollectionState,
  binding: Binding,
  links: LinkedCollection | undefined,
): AsyncIterable<object> {
  return links === undefined ? streamMembers(state, binding) : streamLinked(links)
}
