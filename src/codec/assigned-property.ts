import type { ClassFunctions, Snapshot } from './class-functions.js'
import { CopyProperty } from './copy-property.js'
import { CountProperty } from './count-property.js'
import { readProperty } from './own-property.js'
import type { PropertyCodec } from './property-codec.js'

/** The count of a collection that was assigned, though the server counts; undefined where none was. */
export function assignedCount(
  properties: readonly PropertyCodec[],
  functions: ClassFunctions,
  entity: object,
  snapshot: Snapshot | undefined,
): string | undefined {
  const index = properties.findIndex((property, i) => {
    if (!(property instanceof CountProperty)) return false
    const known = snapshot === undefined ? 0 : (functions.snapshotOf(snapshot, i) ?? 0)
    return (readProperty(entity, property.name) ?? 0) !== known
  })
  return index < 0 ? undefined : properties[index].name
}

/** The copy of another record's property that was assigned; undefined where none was. */
export function assignedCopy(
  properties: readonly PropertyCodec[],
  functions: ClassFunctions,
  entity: object,
  snapshot: Snapshot | undefined,
): string | undefined {
  for (const [i, property] of properties.entries()) {
    if (!(property instanceof CopyProperty)) continue
    const known = snapshot === undefined ? undefined : functions.snapshotOf(snapshot, i)
    if (!property.isCopyOf(readProperty(entity, property.name), known)) return property.name
  }
  return undefined
}
