import { readProperty } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import type { DeletedMode } from '../../model/index.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Reader } from '../../relations/contract/reader.js'
import type { RelationStrategy } from '../../relations/contract/relation-strategy.js'
import type { Tracked } from '../../relations/contract/tracked.js'
import { withChanges } from '../../relations/read/pending-overlay.js'
import type { CollectionState } from '../../relations/state/collection-state.js'
import { collectionStateOf, refStateOf } from '../../relations/state/state-of.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { Hop } from './hop.js'
import { followLinks } from './through-links.js'

/** Links of a record: `owner` stands for it, `known` is its entity where the session has that. */
interface Source {
  readonly owner: Tracked
  readonly known: ManagedEntity | undefined
}

/** Keys that a hop leads to from one record, with this session's unsent changes; what the session has loaded is not read again. */
export async function linksFrom(
  source: Source,
  strategy: RelationStrategy,
  hop: Hop,
  reader: Reader,
  deleted?: DeletedMode,
): Promise<readonly KeyValue[]> {
  if (strategy.links !== undefined) {
    const keys = await membersOf(source, strategy, hop, reader)
    const far = await followLinks(strategy.links, keys, hop, reader, deleted, stateOf(source, strategy))
    return hop.linkFilter === undefined ? far : cut(far, hop)
  }
  if (strategy.model.holds === 'collection') {
    const ended =
      deleted === undefined || strategy.ended === undefined ? [] : await endedFrom(source, strategy, hop, reader)
    const keys = await membersOf(
      source,
      strategy,
      ended.length === 0 ? hop : { ...hop, first: undefined, last: undefined },
      reader,
    )
    return ended.length === 0
      ? keys
      : cut([...new Map([...keys, ...ended].map((key) => [userKeyId(key), key])).values()], hop)
  }
  const key = await targetOf(source, strategy, reader)
  return key === null ? [] : [key]
}

/** Keys of members whose links were ended. */
async function endedFrom(
  { owner, known }: Source,
  { ended }: RelationStrategy,
  { where }: Hop,
  reader: Reader,
): Promise<readonly KeyValue[]> {
  if (known?.state === 'new') return []
  if (where === undefined) return ended!.keys(owner, reader)
  return (await ended!.links(owner, reader)).filter(([, attributes]) => where(attributes)).map(([key]) => key)
}

function targetOf(
  { owner, known }: Source,
  strategy: RelationStrategy,
  reader: Reader,
): KeyValue | null | Promise<KeyValue | null> {
  const state = known && refStateOf(readProperty(known.entity, strategy.relation) as object)
  return state?.isRead === true ? state.key : strategy.targetKey!(owner, reader)
}

function stateOf({ known }: Pick<Source, 'known'>, { relation }: RelationStrategy): CollectionState | undefined {
  return known && collectionStateOf(readProperty(known.entity, relation) as object)
}

async function membersOf(
  { owner, known }: Source,
  strategy: RelationStrategy,
  hop: Hop,
  reader: Reader,
): Promise<readonly KeyValue[]> {
  const state = stateOf({ known }, strategy)
  if (hop.where !== undefined) return cut(await matchingLinks({ owner, known }, strategy, state, hop, reader), hop)
  // Conditions on link records choose among all of them.
  const counts = hop.linkFilter === undefined ? hop : {}
  if (state !== undefined && (state.isLoaded || known!.state === 'new')) return cut(loadedKeys(state), counts)
  const range = state?.isChanged === true ? undefined : rangeOf(counts)
  const stored = await strategy.members!.keys(owner, reader, range)
  if (range !== undefined) return stored
  return cut(state === undefined ? stored : withChanges(state, stored), counts)
}

/** Members whose links have the attributes that are asked for. */
async function matchingLinks(
  { owner, known }: Source,
  strategy: RelationStrategy,
  state: CollectionState | undefined,
  { where, attributeFilter }: Hop,
  reader: Reader,
): Promise<readonly KeyValue[]> {
  // The server does not know attributes that were changed here.
  const filter = state === undefined || state.links.isEmpty ? attributeFilter : undefined
  const stored = known?.state === 'new' ? [] : await strategy.storedLinks!(owner, reader, filter)
  const attributes = new Map(stored.map(([key, value]) => [userKeyId(key), value]))
  const keys = stored.map(([key]) => key)
  const now = state === undefined ? keys : withChanges(state, keys)
  return now.filter((key) => where!(state?.links.get(key)?.value ?? attributes.get(userKeyId(key)) ?? {}))
}

function loadedKeys(state: CollectionState): KeyValue[] {
  const members = state.isLoaded ? state.members : state.added
  return members.flatMap((member) => state.keyOf(member) ?? [])
}

/** The first or last of an ordered collection, as the server counts them. */
function rangeOf({
  first,
  last,
}: Pick<Hop, 'first' | 'last'>): { readonly offset: number; readonly count: number } | undefined {
  if (first !== undefined) return { offset: 0, count: first }
  return last === undefined ? undefined : { offset: -last, count: last }
}

/** The first or last of what a hop leads to from one record. */
export function cut<T>(members: readonly T[], { first, last }: Pick<Hop, 'first' | 'last'>): readonly T[] {
  if (first !== undefined) return members.slice(0, first)
  return last === undefined ? members : members.slice(-last)
}
