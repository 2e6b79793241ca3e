import type { KeyValue } from '../../keys/index.js'
import { goneBinsOf, isThere, type Page } from '../../model/index.js'
import { read } from '../../plan/command.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Binding } from '../contract/binding.js'
import type { KeyRange } from '../contract/collection-members.js'
import { farKey, type LinkClass } from '../contract/link-class.js'
import { isEntity, type Member } from '../contract/member.js'
import type { Tracked } from '../contract/tracked.js'
import type { CollectionState } from '../state/collection-state.js'
import { LinkedMembers } from '../state/linked-members.js'
import { isComplete } from './asked-collection.js'
import { pageAfter } from './cursor-page.js'
import { findFar, loadFar } from './load-links.js'
import { memberKeys } from './pending-overlay.js'
import { streamSteps } from './stream-members.js'

/** A collection of link records, for questions about what they lead to. */
export interface LinkedCollection {
  readonly state: CollectionState
  readonly binding: Binding
  readonly links: LinkClass
  readonly members: LinkedMembers
}

/** Undefined where members are not link records. */
export function linkedIn(state: CollectionState, binding: Binding): LinkedCollection | undefined {
  const { links } = binding.strategy
  return links && { state, binding, links, members: new LinkedMembers(state, binding, links) }
}

/** The link to a member; one get, unless the session has it. */
export async function findLink(of: LinkedCollection, member: Member): Promise<object | null> {
  const { state, binding, links, members } = of
  const link = members.find(member)
  if (link === undefined || state.isRemoved(link)) return null
  if (isEntity(link) && state.isAdded(link)) return link
  if (isComplete(state)) return null
  const key = members.keyOf(member)!
  const [found] = await binding.reader.find(links.model, [key])
  if (found === null) return null
  await binding.reader.load([found])
  return found.entity
}

/** Asks the link itself, not the lists of its ends: it may have expired. */
export async function hasLink({ state, binding, links, members }: LinkedCollection, member: Member): Promise<boolean> {
  const link = members.find(member)
  if (link === undefined || state.isRemoved(link)) return false
  if (state.isAdded(link)) return binding.deleted !== 'only'
  if (isComplete(state)) return false
  const { model } = links
  const key = binding.reader.recordKey(model, members.keyOf(member)!)
  const [record] = await binding.reader.read([read(model.name, key, goneBinsOf(model))])
  return record !== null && isThere(model, record.bins, binding.deleted)
}

export const farKeys = ({ links, binding }: LinkedCollection, keys: readonly KeyValue[]): KeyValue[] =>
  keys.map((key) => farKey(links, key, binding.reader))

/** A page of links by their numbers: the list, then the links and what they lead to in one batch. */
export async function linkedPage(of: LinkedCollection, range: KeyRange): Promise<object[]> {
  return linksUnder(of, await memberKeys(of.state, of.binding, range))
}

/** Entities that links lead to, in the order of these links, which are known by their keys or at hand: both are read in one batch. */
export async function linksUnder(of: LinkedCollection, asked: readonly Member[]): Promise<object[]> {
  const { state, binding, links } = of
  const plain = state.binding!.reader
  const keys = asked.filter((link): link is KeyValue => !isEntity(link))
  const [found] = await Promise.all([binding.reader.find(links.model, keys), findFar(links, keys, plain)])
  const byKey = new Map(state.addedEntities.flatMap((link) => keyed(link, state)))
  for (const [i, link] of found.entries()) if (link !== null) byKey.set(userKeyId(keys[i]), link.entity)
  const shown = asked.flatMap((link) => (isEntity(link) ? link : (byKey.get(userKeyId(link)) ?? [])))
  return membersAfter(of, shown)
}

const keyed = (link: object, state: CollectionState): [string, object][] => {
  const key = state.keyOf(link)
  return key === null ? [] : [[userKeyId(key), link]]
}

/** A page of links by their position, which an index gives. */
export async function linkedPageAfter(of: LinkedCollection, count: number, after?: string): Promise<Page<object>> {
  const page = await pageAfter(of.state, of.binding, count, after)
  return Object.defineProperty(await membersAfter(of, page), 'next', { value: page.next })
}

/** All that links lead to, a bounded number at a time; what only passed through is detached. */
export async function* streamLinked(of: LinkedCollection): AsyncGenerator<object> {
  const { state, binding, links, members } = of
  const { reader } = state.binding!
  for await (const step of streamSteps(state, binding)) {
    const isKnown = new Set<Tracked>()
    for (const key of farKeys(
      of,
      step.flatMap((link) => state.keyOf(link) ?? []),
    )) {
      const known = reader.known(links.target.name, key)
      if (known !== undefined) isKnown.add(known)
    }
    const far = await loadFar(links, step, reader)
    await reader.load(far)
    yield* members.membersOf(step)
    reader.release(far.filter((tracked) => !isKnown.has(tracked)))
  }
}

/** Entities that these links lead to, once loaded. Options of the read are about links, so the session's own reader loads it. */
async function membersAfter({ state, links, members }: LinkedCollection, shown: readonly object[]): Promise<object[]> {
  const { reader } = state.binding!
  await reader.load(await loadFar(links, shown, reader))
  return members.membersOf(shown)
}
