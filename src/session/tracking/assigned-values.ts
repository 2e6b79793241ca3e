import { readProperty } from '../../codec/index.js'
import { shown, SkeinError, VersionConflictError } from '../../errors/index.js'
import { notValid } from '../../model/call-options.js'
import { showKey } from '../../plan/record-key.js'
import type { ManagedEntity } from './managed-entity.js'

/** True when the program has assigned a value that it cannot assign: a version, a count or a copy. */
export const isAssigned = (managed: ManagedEntity): boolean =>
  isVersionAssigned(managed) || isCountAssigned(managed) || isCopyAssigned(managed)

/** Refuses counts and copies that the program has assigned. */
export function checkDerived(managed: ManagedEntity): void {
  checkCounts(managed)
  checkCopies(managed)
}

/** True when the program has assigned the count of a collection: it would have no effect. */
const isCountAssigned = ({ mapped, entity, snapshot }: ManagedEntity): boolean =>
  mapped.hasCounts && mapped.codec.assignedCount(entity, snapshot) !== undefined

function checkCounts(managed: ManagedEntity): void {
  if (!isCountAssigned(managed)) return
  const { mapped, entity, snapshot, model, key } = managed
  const property = mapped.codec.assignedCount(entity, snapshot)!
  const { countOf } = model.properties.find(({ name }) => name === property)!
  throw new SkeinError(
    'SKEIN_2209',
    `${model.name} ${showKey(key)}: ${property} was set, and it is the number of ${countOf}.`,
    {
      className: model.name,
      property,
      key: key.key,
      fix: `Leave ${property} alone: the server counts when ${countOf} changes.`,
    },
  )
}

/** True when the program has assigned a copied property: its source would still say something else. */
const isCopyAssigned = ({ mapped, entity, snapshot }: ManagedEntity): boolean =>
  mapped.hasCopies && mapped.codec.assignedCopy(entity, snapshot) !== undefined

export function checkCopies(managed: ManagedEntity): void {
  if (!managed.mapped.hasCopies) return
  const { mapped, entity, snapshot, model, key } = managed
  const property = mapped.codec.assignedCopy(entity, snapshot)
  if (property === undefined) return
  const { copy } = model.properties.find(({ name }) => name === property)!
  const source = `${copy!.relation}.${copy!.from}`
  throw new SkeinError(
    'SKEIN_2211',
    `${model.name} ${showKey(key)}: ${property} was set, and it is a copy of ${source}.`,
    {
      className: model.name,
      property,
      key: key.key,
      fix: `Change ${source}, or let ${copy!.relation} lead to another entity.`,
    },
  )
}

/** Throws where the caller has seen another version than the one that this session has read. */
export function checkExpectedVersion({ model, key, version }: ManagedEntity, expected: number): void {
  if (!Number.isInteger(expected))
    throw notValid(`${shown(expected)} is not a valid value for the option version.`, 'Give the number that was shown.')
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
