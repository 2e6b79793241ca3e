import type { Binding } from '../contract/binding.js'
import type { CollectionState } from '../state/collection-state.js'
import type { FoundStep } from '../contract/contributor.js'

const STEP = 256

/** All members, a bounded number at a time, with this session's unsent changes; what only passed through is let go. */
export async function* streamMembers(state: CollectionState, binding: Binding): AsyncGenerator<object> {
  const added = new Set(state.added.entities)
  yield* added
  for await (const { found, fresh } of steps(binding)) {
    for (const { entity } of found) if (!added.has(entity) && !state.removed.has(entity)) yield entity
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
