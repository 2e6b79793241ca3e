import type { Events } from '../../driver/events.js'
import { MAX_SHARDS } from '../../model/index.js'
import type { EntityModel, Model, RelationModel } from '../../model/index.js'
import { adviceOf, shardsAdvice } from './size-advice.js'

/** Bytes past which every read and write of a record is slow. */
const COMFORTABLE = 128 * 1024

/** Warns of collections that are expected to outgrow their record, and lets later warnings of large records say what helps. */
export function warnOfSizes({ entities }: Model, events: Events): void {
  events.adviseBy((name, set, bin) => adviceOf(entities.get(name), set, bin))
  if (!events.hearsWarnings) return
  for (const entity of entities.values())
    for (const relation of entity.relations) if (relation.expect !== undefined) warn(entity, relation, events)
}

function warn({ name, namespace, set }: EntityModel, relation: RelationModel, events: Events): void {
  const { companions, cap } = relation
  // Left out: the model does not say how many members a bucket of time gets, and a cap never stores more than it keeps.
  if (companions?.buckets !== undefined) return
  const p99 = Math.min(relation.expect!.p99, cap?.keep ?? Infinity)
  const { bytes } = relation.expect!
  const size = p99 * bytes
  const now = companions?.shards ?? 1
  if (size / now <= COMFORTABLE) return
  // Shards of 64 to 128 KiB each.
  const shards = Math.ceil(size / COMFORTABLE)
  const [where, most] =
    shards > MAX_SHARDS
      ? [`even in ${MAX_SHARDS} shards, the most there can be,`, MAX_SHARDS]
      : [`in ${shards} shards`, shards]
  const each = Math.ceil(size / most)
  const message = [
    `${name}.${relation.name} is expected to hold ${p99} members of ${bytes} bytes: ${size} bytes in ${now === 1 ? 'one record' : `${now} shards`}.`,
    `Past ${COMFORTABLE} bytes every read and write of a record is slow; ${where} each would have ${each} bytes.`,
    shardsAdvice(name, relation, shards),
  ].join(' ')
  events.warn({
    warning: 'collectionSize',
    class: name,
    namespace,
    set,
    bin: relation.bin,
    property: relation.name,
    size,
    limit: COMFORTABLE,
    message,
  })
}
