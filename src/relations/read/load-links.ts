import { readProperty } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import { userKeyId } from '../../plan/record-key.js'
import { farKey, type LinkClass } from '../contract/link-class.js'
import { isEntity, type Member } from '../contract/member.js'
import type { Reader } from '../contract/reader.js'
import type { LoadedLevel, RelationStrategy } from '../contract/relation-strategy.js'
import type { Tracked } from '../contract/tracked.js'
import type { RefState } from '../state/ref-state.js'
import { collectionStateOf, refStateOf } from '../state/state-of.js'

/** Reads what links lead to, which their keys say, so that both are read in one batch. */
export function findFar(
  links: LinkClass,
  keys: readonly KeyValue[],
  reader: Reader,
  along?: readonly string[],
): Promise<(Tracked | null)[]> {
  const far = new Map(keys.map((key) => farKey(links, key, reader)).map((key) => [userKeyId(key), key]))
  return reader.find(links.target, [...far.values()], along)
}

/** Loads what these links lead to, in one batch. */
export async function loadFar(
  { far, target }: LinkClass,
  links: readonly Member[],
  reader: Reader,
  along?: readonly string[],
): Promise<readonly Tracked[]> {
  const stored = new Map<RelationStrategy, Tracked[]>()
  const unsent: RefState[] = []
  for (const link of links.filter(isEntity)) {
    const tracked = reader.tracked(link)
    const state = refStateOf(readProperty(link, far) as object)
    const strategy = state.binding?.strategy
    if (tracked === undefined || strategy === undefined) unsent.push(state)
    else stored.set(strategy, [...(stored.get(strategy) ?? []), tracked])
  }
  const loads = [...stored].map(([strategy, level]) => strategy.load(level, reader, along))
  const found = await Promise.all([...loads, loadUnsent(unsent, target, reader)])
  return [...new Set(found.flat())]
}

/** Links that no flush has taken in yet: the session does not know them, only what they lead to. */
async function loadUnsent(refs: readonly RefState[], target: LinkClass['target'], reader: Reader): Promise<Tracked[]> {
  const byKey = refs.filter((ref) => ref.target !== null && !isEntity(ref.target))
  const found = await reader.find(
    target,
    byKey.map(({ target: key }) => key as KeyValue),
  )
  byKey.forEach((ref, i) => found[i] !== null && ref.set(found[i].entity))
  return refs.flatMap(({ target: end }) => (isEntity(end) ? (reader.tracked(end) ?? []) : []))
}

/** The links of all these owners, and what they lead to: paths go on from there. */
export async function levelsThrough(
  relation: string,
  links: LinkClass,
  level: readonly Tracked[],
  reader: Reader,
  paths: readonly string[],
): Promise<readonly LoadedLevel[]> {
  const members = level.flatMap(({ entity }) => collectionStateOf(readProperty(entity, relation) as object).members)
  const next = await loadFar(links, members, reader, paths)
  const tracked = members.flatMap((link) => (isEntity(link) ? (reader.tracked(link) ?? []) : []))
  return [
    { next: tracked, rest: [] },
    { next, rest: paths },
  ]
}
