import type { EntityModel } from '../model.js'
import type { RelationModel } from '../relation-model.js'
import { didYouMean } from './nearest.js'
import type { Problems } from './problems.js'

/** A collection is counted where it changes, so its members must be in the record that has the count or in its companions. */
export function checkCountOf(entities: Iterable<EntityModel>, problems: Problems): void {
  for (const { name: className, properties, relations } of entities) {
    for (const { name, countOf, sharding } of properties) {
      if (countOf === undefined) continue
      const place = { className, property: name }
      const collections = relations.filter(({ holds }) => holds === 'collection')
      const relation = collections.find((each) => each.name === countOf)
      if (relation === undefined) {
        const names = collections.map((each) => each.name)
        const fix = `${didYouMean(countOf, names)}Name a @OneToMany or @ManyToMany of ${className}.`
        problems.add('SKEIN_1056', place, `${className} has no collection '${countOf}' to count.`, fix)
      } else if (!isCountable(relation)) {
        const message = relation.companions?.buckets
          ? `The members of ${countOf} expire with their buckets, and no write would count that.`
          : `The members of ${countOf} are not in the record, so a change of them cannot count them there.`
        problems.add(
          'SKEIN_1056',
          place,
          message,
          `Ask for the number when it is needed: await entity.${countOf}.count().`,
        )
      } else if (sharding !== undefined && relation.companions === undefined) {
        const message = `The members of ${countOf} are in the record, which counts them in the same command: shards of the count would only add commands.`
        const fix = `Leave out @Sharded here, or put it on ${countOf} as well, or @Companion.`
        problems.add('SKEIN_1056', place, message, fix)
      }
    }
  }
}

/** In a bin of the record, or of companions that tell their size. */
function isCountable({ bin, companions }: RelationModel): boolean {
  // Nothing reports when a bucket expires.
  return bin !== undefined && companions?.buckets?.ttl === undefined
}
