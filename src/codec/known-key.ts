import type { KeyValue } from '../keys/index.js'
import type { EntityModel } from '../model/index.js'
import type { Bins } from '../plan/command.js'
import type { EntityKey } from './entity-key.js'
import { readProperty } from './own-property.js'

/** The key of an entity, for an error to name; undefined while the entity has none. */
export function knownKey(key: EntityKey, entity: object): KeyValue | undefined {
  return key.tryKeyOf(entity) ?? undefined
}

/** The key that the bins of a record show, for an error to name. */
export function keyInBins(model: EntityModel, key: EntityKey, bins: Bins): KeyValue | undefined {
  return knownKey(key, Object.fromEntries(model.properties.map(({ name, bin }) => [name, readProperty(bins, bin)])))
}
