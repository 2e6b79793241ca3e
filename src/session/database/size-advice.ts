import { MAX_SHARDS } from '../../model/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'

/** Shards to begin with where nobody has said how many members are expected. */
const SOME = 8
const SLICES =
  "Put a date in the key, so that each day has a record of its own: @Record({ key: '{id}:{day|YYYY-MM-DD}' })."

/** Advice against a large record, by its class and the bin that grows most. */
export function adviceOf(entity: EntityModel | undefined, set: string, bin: string | undefined): string {
  const relation = entity?.relations.find((each) => each.holds === 'collection' && binsOf(each).includes(bin))
  if (entity === undefined || relation === undefined) return SLICES
  const { companions } = relation
  const place = `${entity.name}.${relation.name}`
  if (companions?.buckets !== undefined) {
    const { by, every } = companions.buckets
    return every > 1 || by === 'day'
      ? `Keep ${place} in shorter buckets: ${every > 1 ? 'a smaller every' : "by: 'hour'"} in its @Sharded.`
      : `Spread ${place} by @Sharded({ by: 'hash', shards: ${SOME} }) over more records than one for each hour.`
  }
  if (companions?.when !== undefined && set !== companions.set)
    return `${place} is sharded on demand: give its @Sharded a when: { bytes: … } below this size, or call shard(${companions.shards}) on it.`
  const shards = Math.min(companions?.shards === undefined ? SOME : companions.shards * 2, MAX_SHARDS)
  return shardsAdvice(entity.name, relation, shards)
}

/** Advice on how to store a collection in so many shards. */
export function shardsAdvice(className: string, relation: RelationModel, shards: number): string {
  const { name, companions, cap } = relation
  if (shards > MAX_SHARDS || companions?.shards === MAX_SHARDS) return divisionAdvice(className, relation)
  const place = `${className}.${name}`
  const sharded = `@Sharded({ by: 'hash', shards: ${shards}${companions?.when === undefined ? '' : ', when: …'} })`
  if (cap !== undefined) return `Let the cap of ${place} keep fewer, or replace it by ${sharded}.`
  if (companions === undefined) return `Put ${sharded} on ${place}.`
  if (companions.shards === undefined) return `Replace @Companion on ${place} by ${sharded}.`
  return `Raise the shards of ${place}: ${sharded}.`
}

/** Advice for a collection that is too large even for the largest number of shards: so many would also be read each time. */
function divisionAdvice(className: string, { name, cap }: RelationModel): string {
  const place = `${className}.${name}`
  const byTime =
    cap === undefined ? `Keep ${place} by time, @Sharded({ by: 'day', … })` : `Let the cap of ${place} keep fewer`
  return `${byTime}, or divide it among several owners, such as one for each month: @Record({ key: '{id}:{month|YYYY-MM}' }).`
}

/** Bins that grow with the members of a collection. */
const binsOf = ({ bin, sortKeyBin, orders = [], inverseIndexes = [], endedBin }: RelationModel): readonly unknown[] =>
  [bin, sortKeyBin, endedBin, ...orders.map((order) => order.bin), ...inverseIndexes.map((index) => index.bin)].filter(
    (each) => each !== undefined,
  )
