import type { KeyValue } from '../../keys/index.js'
import type { Binding } from '../contract/binding.js'
import type { CollectionState } from '../state/collection-state.js'
import type { FoundStep } from '../contract/reader.js'
import { userKeyId } from '../../plan/record-key.js'
import { asksEnded, keysWithEnded } from './ended-members.js'
import { entitiesOf } from './added-members.js'

const STEP = 256

/** All members, with this session's unsent changes; what only passed through is detached. */
export async function* streamMembers(state: CollectionState, binding: Binding): AsyncGenerator<object> {
  if (asksEnded(binding)) {
    yield* streamWithEnded(state, binding)
    return
  }
  for await (const step of streamSteps(state, binding))
    for (const entity of step) if (!state.isRemoved(entity)) yield entity
}

async function* streamWithEnded(state: CollectionState, binding: Binding): AsyncGenerator<object> {
  const keys = await keysWithEnded(state, binding)
  for (let from = 0; from < keys.length; from += STEP) {
    const { found, fresh } = await stepOf(binding, keys.slice(from, from + STEP))
    yield* found.map(({ entity }) => entity)
    binding.reader.release(fresh)
  }
}

/** All members, a bounded number at a time. */
export async function* streamSteps(state: CollectionState, binding: Binding): AsyncGenerator<readonly object[]> {
  const added = state.added
  const shown = new Set<string>()
  for (let from = 0; from < added.length; from += STEP) {
    const entities = await entitiesOf(added.slice(from, from + STEP), binding)
    for (const entity of entities) {
      const key = state.keyOf(entity)
      if (key !== null) shown.add(userKeyId(key))
    }
    yield entities.filter((entity) => !state.isRemoved(entity))
  }
  const isShown = (entity: object): boolean => shown.has(userKeyId(state.keyOf(entity)!)) || state.isRemoved(entity)
  for await (const { found, fresh } of steps(binding)) {
    yield found.map(({ entity }) => entity).filter((entity) => !isShown(entity))
    binding.reader.release(fresh)
  }
}

type Step = Pick<FoundStep, 'found' | 'fresh'>

function steps(binding: Binding): AsyncIterable<Step> {
  const { byPosition } = binding.strategy.members!
  return byPosition === undefined ? numbered(binding) : byPosition.stream(binding.tracked, binding.reader)
}

async function* numbered(binding: Binding): AsyncGenerator<Step> {
  const { tracked, reader, strategy } = binding
  for (let offset = 0; ; offset += STEP) {
    const keys = await strategy.members!.keys(tracked, reader, { offset, count: STEP })
    if (keys.length === 0) return
    yield stepOf(binding, keys)
  }
}

async function stepOf({ reader, relation: { target } }: Binding, keys: readonly KeyValue[]): Promise<Step> {
  const known = new Set(keys.map((key) => reader.known(target, key)))
  const found = (await reader.find(reader.entityModel(target), keys)).filter((member) => member !== null)
  return { found, fresh: found.filter((member) => !known.has(member)) }
}
