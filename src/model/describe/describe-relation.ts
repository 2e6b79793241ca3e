import type { ShardingModel } from '../property-model.js'
import { inversePath, type RelationModel } from '../relation-model.js'

/** A relation in one line: what it leads to, how it is stored and what happens on delete. */
export function describeRelation(relation: RelationModel): string {
  const { kind, target, inverse, strategy, bin, name, owner, onDelete, orphans, eager, sharding, companions, through } =
    relation
  const parts = [
    through === undefined
      ? `${kind} ${target}${inverse === undefined ? '' : `.${inverse}`}`
      : `manyToMany ${through.target} through ${target}.${inverse}`,
    `${strategy}${bin !== undefined && bin !== name ? ` in '${bin}'` : ''}`,
    owner ? 'owner' : undefined,
    onDelete === 'detach' ? undefined : `onDelete ${onDelete}`,
    orphans === 'keep' ? undefined : `orphans ${orphans}`,
    eager ? 'eager' : undefined,
    relation.sortKey &&
      `ordered by ${relation.sortKey.join(', ')}${relation.sortKeyBin === undefined ? '' : ` (ids in '${relation.sortKeyBin}')`}`,
    ...(relation.orders ?? []).map(
      ({ name: order, properties, bin: list }) =>
        `order ${order} by ${properties.join(', ')}${list === '' ? '' : ` in '${list}'`}`,
    ),
    relation.cap && `keeps the ${relation.cap.by} ${relation.cap.keep}`,
    relation.attributes && `attributes ${relation.attributes}`,
    ...(relation.inverseIndexes ?? []).map((index) => `inverse index of ${inversePath(index)} in '${index.bin}'`),
    sharding && describeSharding(sharding),
    companions &&
      `in ${companions.shards === undefined && companions.buckets === undefined ? 'a companion of' : ''} '${companions.set}'`.replace(
        '  ',
        ' ',
      ),
    relation.expect && `expected: ${relation.expect.p99} × ${relation.expect.bytes} bytes`,
  ]
  return parts.filter((part) => part !== undefined).join(', ')
}

export function describeSharding(sharding: ShardingModel): string {
  if (sharding.by === 'hash') return `${sharding.shards} shards by hash`
  const { by, on, every = 1, ttl } = sharding
  const unit = every === 1 ? by : `${every} ${by}s`
  return `buckets by ${unit} of ${on ?? 'the link'}${ttl === undefined ? '' : `, each for ${ttl} s`}`
}
