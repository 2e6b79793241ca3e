import { readProperty } from '../../codec/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import type { KeyValue } from '../../keys/index.js'
import { userKeyId, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import type { MemberStore } from '../contract/member-store.js'
import { storedKeys } from '../contract/stored-keys.js'
import { collectionStateOf } from '../state/state-of.js'
import type { CollectionState } from '../state/collection-state.js'

interface ListedOptions {
  readonly along?: readonly string[]
  /** The keys in the bin; a list of them unless said otherwise. */
  readonly keysIn?: (stored: Value) => readonly UserKey[]
  /** Takes what the bin holds besides the keys. */
  readonly take?: (owner: Tracked, state: CollectionState, stored: Value) => void
  /** Reads in the same batch what the keys alone lead to. */
  readonly beside?: (keys: readonly KeyValue[]) => Promise<unknown>
}

/** Loads collections that are stored as lists of keys: the lists that were not read yet, then all members in one batch. */
export async function loadListed(
  relation: RelationModel,
  target: EntityModel,
  level: readonly Tracked[],
  reader: Reader,
  lists: MemberStore,
  options: ListedOptions = {},
): Promise<readonly Tracked[]> {
  const states = level.map((tracked) => collectionStateOf(readProperty(tracked.entity, relation.name) as object))
  const since = states.map((state) => state.beginLoad())
  try {
    return await loadAll(relation, target, level, states, since, reader, lists, options)
  } finally {
    for (const { loaded } of states) loaded.endLoad()
  }
}

async function loadAll(
  relation: RelationModel,
  target: EntityModel,
  level: readonly Tracked[],
  states: readonly CollectionState[],
  since: readonly number[],
  reader: Reader,
  store: MemberStore,
  { along, keysIn = (stored) => stored as readonly UserKey[], take, beside }: ListedOptions,
): Promise<readonly Tracked[]> {
  const bins = await binsOf(store, level, states, reader)
  const lists = bins.map((stored, i) => {
    const { model, key } = level[i]
    return storedKeys({ model, key, property: relation.name }, target, () => keysIn(stored), reader)
  })
  const added = states.map(({ addedKeys }) => addedKeys)
  const wanted = new Map([...lists, ...added].flat().map((key) => [userKeyId(key), key]))
  const keys = [...wanted.values()]
  const [found] = await Promise.all([reader.find(target, keys, along), beside?.(keys)])
  const byKey = new Map(keys.map((key, i) => [userKeyId(key), found[i]]))
  states.forEach((state, i) => {
    const members = lists[i].map((key) => byKey.get(userKeyId(key)) ?? null)
    const dangling = lists[i].filter((_, j) => members[j] === null)
    for (const key of added[i]) state.resolveKey(byKey.get(userKeyId(key))?.entity)
    state.dropUnlisted(lists[i])
    state.loaded.fill(
      members.flatMap((member) => (member === null ? [] : [member.entity])),
      since[i],
      dangling,
    )
    take?.(level[i], state, bins[i])
  })
  const unsent = states.flatMap((state) => state.addedEntities.flatMap((entity) => reader.tracked(entity) ?? []))
  return [...new Set([...found.filter((member) => member !== null), ...unsent])]
}

async function binsOf(
  store: MemberStore,
  level: readonly Tracked[],
  states: readonly CollectionState[],
  reader: Reader,
): Promise<Value[]> {
  // Another load that meets this one here turns them into members while this one waits.
  const before = states.map(({ loaded }) => loaded.bin)
  const missing = level.filter((tracked, i) => tracked.state !== 'new' && before[i] === undefined)
  const stored = await store.read(
    missing.map(({ key }) => key),
    reader,
  )
  const answers = new Map(missing.map((tracked, i) => [tracked, stored[i]]))
  return level.map((tracked, i) => states[i].loaded.bin ?? before[i] ?? answers.get(tracked) ?? [])
}
