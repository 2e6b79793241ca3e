import { SkeinError } from '../../errors/index.js'
import { showKey } from '../../plan/record-key.js'
import type { ManagedEntity } from './managed-entity.js'

/** True when the program has assigned a copied property: its source would still say something else. */
export const isCopyAssigned = ({ mapped, entity, snapshot }: ManagedEntity): boolean =>
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
