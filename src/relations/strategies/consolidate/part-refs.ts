import { readProperty, type ChildCodec } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import { refsOf, type EmbeddableModel, type EntityModel, type RelationModel } from '../../../model/index.js'
import type { Tracked } from '../../contract/tracked.js'
import type { Reader } from '../../contract/reader.js'
import { byFirstStep } from '../../read/split-paths.js'
import { isEntity } from '../../contract/member.js'
import type { RefState } from '../../state/ref-state.js'
import { findRefState } from '../../state/state-of.js'
import type { LoadedLevel, RelationStrategy } from '../../contract/relation-strategy.js'
import { childrenOfPart } from './part-tree.js'

/** A reference that a part holds: stored with the part, and loaded like any other. */
class PartRef implements RelationStrategy {
  readonly relation: string
  readonly model: RelationModel
  readonly bins: readonly string[] = []
  readonly #state: RefState
  readonly #target: EntityModel

  constructor(model: RelationModel, state: RefState, target: EntityModel) {
    this.relation = model.name
    this.model = model
    this.#state = state
    this.#target = target
  }

  hasChanges(): boolean {
    return false
  }

  save(): void {}
  remove(): void {}

  load(_level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]> {
    return loadRefs([this.#state], this.#target, reader, along)
  }
}

/** Ties the references of a part to the session of its record. */
export function attachRefs(
  part: object,
  { name: className, relations }: EmbeddableModel,
  owner: Tracked,
  reader: Reader,
): void {
  for (const relation of relations) {
    if (relation.holds !== 'ref') continue
    const state = findRefState(readProperty(part, relation.name) ?? {})
    if (state === undefined || state.binding?.reader === reader) continue
    const target = reader.entityModel(relation.target)
    const strategy = new PartRef(relation, state, target)
    const load = async (): Promise<void> => reader.load(await loadRefs([state], target, reader))
    state.bind({ tracked: owner, className, relation, reader, strategy, load })
  }
}

/** True where references of the class, or of parts in it, are always loaded with them. */
export function hasEagerRefs({ model, children }: ChildCodec, seen = new Set<string>()): boolean {
  if (seen.has(model.name)) return false
  seen.add(model.name)
  return refsOf(model).some(({ eager }) => eager) || children.some(({ codec }) => hasEagerRefs(codec, seen))
}

/** Loads what is always loaded with these parts. */
export async function completeParts(parts: readonly object[], codec: ChildCodec, reader: Reader): Promise<void> {
  const loaded = await loadPartRefs(parts, codec, [], reader)
  await reader.load(loaded.flatMap(({ next }) => next))
}

/** Loads those references of parts, and of the parts in them, that the paths name or that are eager: all of one tick, and so in one batch read. */
export async function loadPartRefs(
  parts: readonly object[],
  codec: ChildCodec,
  paths: readonly string[],
  reader: Reader,
): Promise<readonly LoadedLevel[]> {
  if (parts.length === 0) return []
  const named = byFirstStep(paths)
  const wanted = refsOf(codec.model).filter(({ name, eager }) => eager || named.has(name))
  const inside = codec.children.filter((field) => named.has(field.name) || hasEagerRefs(field.codec))
  const levels = await Promise.all([
    ...wanted.map(async ({ name, target }) => {
      const rest = named.get(name) ?? []
      const states = parts.flatMap((part) => findRefState(readProperty(part, name) ?? {}) ?? [])
      return [{ next: await loadRefs(states, reader.entityModel(target), reader, rest), rest }]
    }),
    ...inside.map((field) => {
      const children = parts.flatMap((part) => [...childrenOfPart(part, field)])
      return loadPartRefs(children, field.codec, named.get(field.name) ?? [], reader)
    }),
  ])
  return levels.flat()
}

/** Loads what references point to, all in one batch read. */
async function loadRefs(
  states: readonly RefState[],
  target: EntityModel,
  reader: Reader,
  along?: readonly string[],
): Promise<readonly Tracked[]> {
  const pending = states.filter((state) => state.target !== null && !isEntity(state.target))
  const found = await reader.find(
    target,
    pending.map((state) => state.target as KeyValue),
    along,
  )
  // A key whose record is gone stays in the part until somebody changes it.
  const loaded = new Set<Tracked>()
  pending.forEach((state, i) => {
    const tracked = found[i]
    state.lookedUp(tracked === null)
    if (tracked === null) return
    state.resolve(tracked.entity)
    loaded.add(tracked)
  })
  for (const { target: entity } of states) {
    const tracked = isEntity(entity) ? reader.tracked(entity) : undefined
    if (tracked !== undefined) loaded.add(tracked)
  }
  return [...loaded]
}
