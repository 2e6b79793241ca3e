import type { Binding } from '../contract/binding.js'
import { notNow, notOnDemand } from '../contract/companion-errors.js'
import type { Shards } from './placement.js'

/** Moves the members of a collection at once; `call` is what people have called. */
export async function reshard(binding: Binding, call: string, shards: Shards): Promise<void> {
  const { strategy, tracked, reader } = binding
  const growing = strategy.growing ?? strategy.store?.growing
  if (growing === undefined) throw notOnDemand(binding, call)
  if (tracked.state === 'new' || reader.isInside) throw notNow(binding, call)
  await growing.reshard(tracked.key, shards, reader.direct)
}
