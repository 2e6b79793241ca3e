import { companionSet } from '../../keys/index.js'
import type { EntityModel } from '../model.js'
import type { PropertyModel } from '../property-model.js'
import type { Place, Problems } from './problems.js'

const MAX_SET = 63

/** Sharded counters and what a class cannot combine with them. */
export function checkShardedCounters(entities: ReadonlyMap<string, EntityModel>, problems: Problems): void {
  const sets = new Set([...entities.values()].map(({ namespace, set }) => `${namespace}|${set}`))
  for (const entity of entities.values()) {
    for (const property of entity.properties) {
      if (property.sharding === undefined) continue
      const place = { className: entity.name, property: property.name }
      checkExpiry(entity, property, place, problems)
      checkIndex(entity, property, place, problems)
      checkSet(entity, property, sets, place, problems)
    }
  }
}

/** The server lets each record expire by itself: a record without some of its companions would count wrong. */
function checkExpiry(
  { ttl, ttlProperty }: EntityModel,
  { countOf }: PropertyModel,
  place: Place,
  problems: Problems,
): void {
  if (typeof ttl.seconds !== 'number' && ttlProperty === undefined) return
  const what = countOf === undefined ? 'counter' : 'count'
  problems.add(
    'SKEIN_1051',
    place,
    `A sharded ${what} cannot expire, and ${ttlProperty === undefined ? 'its class has a ttl' : `${ttlProperty} is a @Ttl`}.`,
    `Leave one of them out: a ${what} of a record that expires has no shards.`,
  )
}

function checkIndex({ indexes }: EntityModel, { name }: PropertyModel, place: Place, problems: Problems): void {
  if (!indexes.some(({ property }) => property === name)) return
  problems.add('SKEIN_1051', place, 'An index would not see what its shards count.', 'Leave out @Index or @Sharded.')
}

function checkSet(
  { set: own, namespace }: EntityModel,
  { bin, countOf }: PropertyModel,
  sets: ReadonlySet<string>,
  place: Place,
  problems: Problems,
): void {
  const set = companionSet(own, bin)
  if (Buffer.byteLength(set) > MAX_SET) {
    const message = `The set of its shards, '${set}', has more than ${MAX_SET} bytes.`
    const fix = `Give the class a shorter set, or the ${countOf === undefined ? 'counter' : 'count'} a shorter name: '…'.`
    problems.add('SKEIN_1051', place, message, fix)
  }
  if (sets.has(`${namespace}|${set}`)) {
    const message = `The set of its shards, '${set}', is that of a class.`
    const fix =
      countOf === undefined
        ? "Give the counter another bin: @Counter({ name: '…' })."
        : `Give the count another bin: @CountOf('${countOf}', { name: '…' }).`
    problems.add('SKEIN_1051', place, message, fix)
  }
}
