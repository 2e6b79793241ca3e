import type { Events } from '../../driver/events.js'
import type { EntityModel, ExpectedSize, Model, RelationModel } from '../../model/index.js'

/** Bytes past which every read and write of a record is slow. */
const COMFORTABLE = 128 * 1024

/** Warns of collections that are expected to outgrow their record. */
export function warnOfSizes({ entities }: Model, events: Events): void {
  if (!events.hearsWarnings) return
  for (const entity of entities.values())
    for (const relation of entity.relations) if (relation.expect !== undefined) warn(entity, relation, events)
}

function warn({ name, namespace, set }: EntityModel, relation: RelationModel, events: Events): void {
  const { p99, bytes } = relation.expect!
  const size = (p99 * bytes) / shardsOf(relation)
  if (size <= COMFORTABLE) return
  const shards = shardsFor(relation.expect!)
  const each = Math.ceil((p99 * bytes) / shards)
  const text = [
    `${name}.${relation.name} is expected to hold ${p99} members of ${bytes} bytes: ${p99 * bytes} bytes in ${placeOf(relation)}.`,
    `Past ${COMFORTABLE} bytes every read and write of a record is slow; in ${shards} shards each would have ${each} bytes.`,
    relation.kind === 'oneToMany' ? (HELP[relation.strategy] ?? '') : '',
  ]
  const message = text.join(' ').trim()
  const property = relation.name
  events.warn({
    warning: 'collectionSize',
    class: name,
    namespace,
    set,
    bin: relation.bin,
    property,
    size: p99 * bytes,
    limit: COMFORTABLE,
    message,
  })
}

/** Shards of 64 to 128 KiB each. */
const shardsFor = ({ p99, bytes }: ExpectedSize): number => Math.ceil((p99 * bytes) / COMFORTABLE)

const shardsOf = ({ sharding }: RelationModel): number => (sharding?.by === 'hash' ? sharding.shards : 1)

const placeOf = (relation: RelationModel): string =>
  shardsOf(relation) === 1 ? 'one record' : `${shardsOf(relation)} shards`

/** Ways to store it that exist today. */
const HELP: { readonly [S in RelationModel['strategy']]?: string } = {
  keyList: "With strategy: 'secondaryIndex' it needs no list.",
  consolidate: "Keep fewer with cap, or make the children records and store them with strategy: 'secondaryIndex'.",
}
