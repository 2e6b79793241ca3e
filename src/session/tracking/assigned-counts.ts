import { SkeinError } from '../../errors/index.js'
import { showKey } from '../../plan/record-key.js'
import type { ManagedEntity } from './managed-entity.js'

/** True when the program has assigned the count of a collection: it would have no effect. */
export const isCountAssigned = ({ mapped, entity, snapshot }: ManagedEntity): boolean =>
  mapped.hasCounts && mapped.codec.assignedCount(entity, snapshot) !== undefined

export function checkCounts(managed: ManagedEntity): void {
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
