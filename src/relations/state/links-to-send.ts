import type { CollectionState } from './collection-state.js'

/** Links that a collection has made: they replace what may be stored between their ends. */
const MADE = new WeakSet<object>()

export const noteMade = (link: object): void => void MADE.add(link)
export const isMade = (link: object): boolean => MADE.has(link)

/** Link records that the next save of the owner concerns, though the collection itself does not change. */
interface LinksToSend {
  /** Links that were given other values by a collection that had them already. */
  readonly changed: Set<object>
  /** The session has taken them in, has not stored them, and was told to unlink them. */
  readonly dropped: Set<object>
}

const TO_SEND = new WeakMap<CollectionState, LinksToSend>()

export const linksToSend = (state: CollectionState): LinksToSend | undefined => TO_SEND.get(state)

export function noteChanged(state: CollectionState, link: object): void {
  sentFor(state).changed.add(link)
}

export function noteDropped(state: CollectionState, link: object): void {
  sentFor(state).dropped.add(link)
}

/** The link is wanted after all. */
export function keepLink(state: CollectionState, link: object): void {
  const { changed, dropped } = TO_SEND.get(state) ?? {}
  if (dropped?.delete(link) && dropped.size === 0 && changed!.size === 0) TO_SEND.delete(state)
}

export const forgetLinksToSend = (state: CollectionState): void => void TO_SEND.delete(state)

function sentFor(state: CollectionState): LinksToSend {
  const known = TO_SEND.get(state)
  if (known !== undefined) return known
  const made: LinksToSend = { changed: new Set(), dropped: new Set() }
  TO_SEND.set(state, made)
  return made
}
