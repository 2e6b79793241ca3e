import { isDirty } from './collect-changes.js'
import { binsReplaced } from '../../../plan/effects.js'
import { recordedChanges } from '../../tracking/write-options.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import type { Changes } from '../../context/session-types.js'
import { withRecorded } from '../plan/patch.js'
import { changedTtl } from '../plan/record-write.js'

const NONE: Changes = Object.freeze({ kind: 'none', properties: [], operations: [] })

/** Describes a save of the entity, property by property. */
export function changesOf(managed: ManagedEntity): Changes {
  const { shownState: state, entity, model, mapped, snapshot, doubt } = managed
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
    properties: [...new Set([...recordedChanges(managed).map(({ property }) => property), ...properties, ...ttl])],
    operations: withRecorded(managed, codec.diff(entity, snapshot!, managed.loaded)),
  }
}
