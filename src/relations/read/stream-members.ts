import type { Binding } from '../contract/binding.js'
import type { CollectionState } from '../state/collection-state.js'
import type { FoundStep } from '../contract/reader.js'
import { userKeyId } from '../../plan/record-key.js'
import { entitiesOf } from './added-members.js'

const STEP = 256

/** All members, a bounded number at a time, with this session's unsent changes; what only passed through is let go. */
export async function* streamMembers(state: CollectionState, binding: Binding): AsyncGenerator<object> {
  const added = state.added
  const shown = new Set<string>()
  for (let from = 0; from < added.length; from += STEP) {
    for (const entity of await entitiesOf(added.slice(from, from + STEP), binding)) {
      const key = state.keyOf(entity)
      if (key !== null) shown.add(userKeyId(key))
      if (!state.isRemoved(entity)) yield entity
    }
  }
  const isShown = (entity: object): boolean => shown.has(userKeyId(state.keyOf(entity)!)) || state.isRemoved(entity)
  for await (const { found, fresh } of steps(binding)) {
    for (const { entity } of found) if (!isShown(entity)) yield entity
    binding.reader.release(fresh)
  }
}

type Step = Pick<FoundStep, 'found' | 'fresh'>

function steps(binding: Binding): AsyncIterable<Step> {
  const { byPosition } = binding.strategy.members!
  return byPosition === undefined ? numbered(binding) : byPosition.stream(binding.tracked, binding.reader)
}

async function* numbered({ tracked, reader, relation, strategy }: Binding): AsyncGenerator<Step> {
  const { target } = relation
  for (let offset = 0; ; offset += STEP) {
    const keys = await strategy.members!.keys(tracked, reader, { offset, count: STEP })
    if (keys.length === 0) return
    const known = new Set(keys.map((key) => reader.known(target, key)))
    const found = (await reader.find(reader.entityModel(target), keys)).filter((member) => member !== null)
    yield { found, fresh: found.filter((member) => !known.has(member)) }
  }
}
