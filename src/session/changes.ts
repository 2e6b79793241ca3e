import { isDirty } from './dirty.js'
import { binsReplaced } from '../plan/repeatable.js'
import type { Managed } from './managed.js'
import type { Changes } from './session-types.js'
import { changedTtl } from './ttl.js'

const NONE: Changes = Object.freeze({ kind: 'none', properties: [], operations: [] })

/** What a save would do to the entity, property by property. */
export function changesOf(managed: Managed): Changes {
  const { state, entity, model, mapped, snapshot, doubt } = managed
  const { codec } = mapped
  if (state === 'removed') return { kind: 'delete', properties: [], operations: [] }
  if (state === 'new' || managed.overwrite) {
    const properties = model.properties.map(({ name }) => name)
    return { kind: 'create', properties, operations: codec.create(entity) }
  }
  if (!isDirty(managed)) return NONE
  const ttl = changedTtl(managed) === undefined ? [] : [model.ttlProperty!]
  const changed = codec.changedProperties(entity, snapshot!)
  const properties =
    doubt === undefined ? changed : [...new Set([...changed, ...codec.propertiesIn(binsReplaced(doubt.command))])]
  return {
    kind: 'update',
    properties: [...properties, ...ttl],
    operations: codec.diff(entity, snapshot!, managed.loaded),
  }
}
