import { SkeinError } from '../../errors/index.js'
import { describeKey, tagKey, type KeyValue, type Tenant } from '../../keys/index.js'
import { untag, type EntityModel } from '../../model/index.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { MappedClass } from './mapped-class.js'
import type { MappedClasses } from './mapped-classes.js'

/** A class, and a key of it. */
interface Located {
  readonly mapped: MappedClass
  readonly key: KeyValue
}

/** The class that a key of a relation's target is of; undefined for a key of none of several. */
export function findClass(classes: MappedClasses, target: EntityModel, key: unknown): Located | undefined {
  if (target.several === undefined) return { mapped: classes.of(target.name), key: key as KeyValue }
  const found = untag(target, key, 'kind')
  return found && { mapped: classes.of(found.model.name), key: found.key }
}

/** Finds the class that a key of a relation's target is of; throws SKEIN_2101 for a key of none of several. */
export function classOfKey(classes: MappedClasses, target: EntityModel, key: unknown): Located {
  const found = findClass(classes, target, key)
  if (found !== undefined) return found
  const [first] = target.several!
  throw new SkeinError('SKEIN_2101', `${describeKey(key)} is not a key of ${target.name}.`, {
    className: target.name,
    fix: `Give an entity, or a key with its set: keysOf(${first.name}).withSet(…), such as '${first.set}:…'.`,
  })
}

/** The key of an entity as a reference to the target holds it. */
export function keyInTarget({ mapped, key }: Located, target: EntityModel): KeyValue {
  return target.several === undefined ? key : tagKey(mapped.model.set, key)
}

/** The record of a key of the target. */
export function recordOfKey(
  classes: MappedClasses,
  target: EntityModel,
  key: unknown,
  tenant: Tenant | undefined,
): RecordKey {
  const { mapped, key: own } = classOfKey(classes, target, key)
  return mapped.recordKeyOf(own, tenant)
}

/** Runs a search for each class of the target, all at once, and gives the results in the order of the keys. */
export async function findInClasses<R>(
  classes: MappedClasses,
  target: EntityModel,
  keys: readonly KeyValue[],
  find: (mapped: MappedClass, keys: readonly KeyValue[]) => Promise<R[]>,
): Promise<R[]> {
  const located = keys.map((key) => classOfKey(classes, target, key))
  const groups = new Map<MappedClass, number[]>()
  located.forEach(({ mapped }, i) => {
    const places = groups.get(mapped)
    if (places === undefined) groups.set(mapped, [i])
    else places.push(i)
  })
  const results = new Array<R>(keys.length)
  const searches = [...groups].map(async ([mapped, places]) => {
    const found = await find(
      mapped,
      places.map((i) => located[i].key),
    )
    places.forEach((place, i) => (results[place] = found[i]))
  })
  await Promise.all(searches)
  return results
}
