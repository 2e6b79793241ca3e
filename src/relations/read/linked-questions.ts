import { readProperty } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import { deletedBinOf, goneBinsOf, isShown, isThere, type EntityModel, type Page } from '../../model/index.js'
import { read } from '../../plan/command.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Binding } from '../contract/binding.js'
import type { KeyRange } from '../contract/collection-members.js'
import { farKey, outlivesEnd, type LinkClass } from '../contract/link-class.js'
import { isEntity, modelAt, type Member } from '../contract/member.js'
import type { Tracked } from '../contract/tracked.js'
import type { CollectionState } from '../state/collection-state.js'
import { LinkedMembers } from '../state/linked-members.js'
import { refStateOf } from '../state/state-of.js'
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

/** The link to a member; one get, unless the session has it, with one of its end where that is to be asked itself. */
export async function findLink(of: LinkedCollection, member: Member): Promise<object | null> {
  const { state, binding, links, members } = of
  const link = members.find(member)
  if (link === undefined || state.isRemoved(link)) return null
  if (isEntity(link) && state.isAdded(link)) return link
  if (isComplete(state)) return null
  const key = members.keyOf(member)!
  const [[found], isEndDeleted] = await Promise.all([binding.reader.find(links.model, [key]), isFarDeleted(of, key)])
  if (found === null || !isAskedFor(of, found.entity, isEndDeleted)) return null
  await binding.reader.load([found])
  return found.entity
}

/** Asks the link itself, not the lists of its ends: it may have expired. */
export async function hasLink(of: LinkedCollection, member: Member): Promise<boolean> {
  const { state, binding, links, members } = of
  const link = members.find(member)
  if (link === undefined || state.isRemoved(link)) return false
  if (state.isAdded(link)) return binding.deleted !== 'only'
  if (isComplete(state)) return false
  const { model } = links
  const key = members.keyOf(member)!
  const question = read(model.name, binding.reader.recordKey(model, key), goneBinsOf(model))
  const [[record], isEndDeleted] = await Promise.all([binding.reader.read([question]), isFarDeleted(of, key)])
  const mode = isEndDeleted ? 'include' : binding.deleted
  return record !== null && isThere(model, record.bins, mode) && (!isEndDeleted || binding.deleted !== undefined)
}

/** True where the end of a link, which does not take it along, was deleted softly. */
async function isFarDeleted({ binding: { reader }, links }: LinkedCollection, link: KeyValue): Promise<boolean> {
  if (!outlivesEnd(links)) return false
  const key = reader.recordKey(links.target, farKey(links, link, reader))
  const target = modelAt(links.target, key)
  const bin = deletedBinOf(target)
  if (bin === undefined) return false
  const [record] = await reader.read([read(target.name, key, [bin])])
  return record !== null && !isShown(target, record.bins, undefined)
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
  const own = state.binding!.reader
  const ends = binding.deleted === undefined ? own : own.withDeleted()
  const keys = asked.filter((link): link is KeyValue => !isEntity(link))
  const [found] = await Promise.all([binding.reader.find(links.model, keys), findFar(links, keys, ends)])
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
  const { state, binding, links } = of
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
    const { far, members } = await endsOf(of, step)
    yield* members
    reader.release(far.filter((tracked) => !isKnown.has(tracked)))
  }
}

const membersAfter = async (of: LinkedCollection, shown: readonly object[]): Promise<object[]> =>
  (await endsOf(of, shown)).members

interface LoadedEnds {
  readonly far: readonly Tracked[]
  /** Entities as people see them, in the order of the links. */
  readonly members: object[]
}

/** Loads what these links lead to. */
async function endsOf(of: LinkedCollection, shown: readonly object[]): Promise<LoadedEnds> {
  const { state, binding, links, members } = of
  const { reader } = state.binding!
  if (binding.deleted !== undefined) return endsWithDeleted(of, shown)
  const far = await loadFar(links, shown, reader)
  await reader.load(far)
  return { far, members: members.membersOf(shown) }
}

/** Finds ends that were deleted, too; the references of the links go on showing none of them. */
async function endsWithDeleted(of: LinkedCollection, shown: readonly object[]): Promise<LoadedEnds> {
  const { state, links } = of
  const { reader } = state.binding!
  const refs = shown.map((link) => refStateOf(readProperty(link, links.far) as object))
  const keys = new Map(refs.flatMap(({ key }) => (key === null ? [] : [[userKeyId(key), key]])))
  const found = await reader.withDeleted().find(links.target, [...keys.values()])
  const byKey = new Map([...keys.keys()].map((id, i) => [id, found[i]]))
  const far = found.filter((end) => end !== null)
  await reader.load(far)
  const members = shown.flatMap((link, i) => {
    const { key, target } = refs[i]
    const end = key === null ? null : (byKey.get(userKeyId(key)) ?? null)
    if (end === null) return isEntity(target) ? target : []
    return isAskedFor(of, link, isDeleted(end.model, end.entity)) ? end.entity : []
  })
  return { far, members }
}

/** True where a question shows a link, as it and its end are. */
function isAskedFor({ binding: { deleted }, links }: LinkedCollection, link: object, isEndDeleted: boolean): boolean {
  if (!outlivesEnd(links) || deleted === 'include') return true
  return (isEndDeleted || isDeleted(links.model, link)) === (deleted === 'only')
}

const isDeleted = ({ deletedAt }: EntityModel, entity: object): boolean =>
  deletedAt !== undefined && (readProperty(entity, deletedAt) ?? undefined) !== undefined
