import { readProperty } from '../../codec/index.js'
import { SkeinError, VersionConflictError } from '../../errors/index.js'
import { showKey } from '../../plan/record-key.js'
import { notValid } from '../../model/call-options.js'
import type { ManagedEntity } from './managed-entity.js'

/** Throws where the caller has seen another version than the one that this session has read. */
export function checkExpectedVersion({ model, key, version }: ManagedEntity, expected: number | undefined): void {
  if (expected === undefined) return
  if (!Number.isInteger(expected))
    throw notValid(`${String(expected)} is no value for the option version.`, 'Give the number that was shown.')
  if (model.version === undefined)
    throw notValid(`${model.name} has no version to compare with.`, 'Declare one with @Version().')
  if (expected === version) return
  const has = version === undefined ? 'has none that was read here' : `has version ${version}`
  throw new VersionConflictError(`${model.name} ${showKey(key)} was expected in version ${expected}, and ${has}.`, {
    className: model.name,
    property: model.version,
    key: key.key,
    fix: 'Load it again and decide what to do with what others have changed.',
  })
}

/** True when the program has assigned another version: it would have no effect. A frozen entity cannot show the version it has. */
export function isVersionAssigned(managed: ManagedEntity): boolean {
  const { model, entity } = managed
  if (model.version === undefined || (readProperty(entity, model.version) ?? undefined) === managed.version)
    return false
  return !Object.isFrozen(entity)
}

export function versionAssigned({ model, key, entity, version }: ManagedEntity): SkeinError {
  const property = model.version!
  const assigned = String(readProperty(entity, property))
  const message = `${model.name} ${showKey(key)}: ${property} was set to ${assigned}, and was loaded as ${version}.`
  return new SkeinError('SKEIN_2209', message, {
    className: model.name,
    property,
    key: key.key,
    fix: `Skein counts it. To save only what somebody has seen in that version, leave ${property} alone and pass { version: ${assigned} } to load or save.`,
  })
}
