import { RestrictedError, SkeinError } from '../errors/index.js'
import { describeKey } from '../keys/index.js'
import type { RelationModel } from '../model/index.js'
import type { Binding } from './binding.js'
import type { Tracked } from './contributor.js'

export function restricted({ model, key }: Tracked, relation: RelationModel, count: number): RestrictedError {
  return new RestrictedError(
    `${model.name} ${describeKey(key.key)} cannot be deleted: ${relation.name} still has ${count} ${relation.target}.`,
    {
      className: model.name,
      property: relation.name,
      key: key.key,
      fix: `Delete or move them first, or declare the relation with onDelete: 'cascade' or 'detach'.`,
    },
  )
}

export function noAttributes({ tracked, relation }: Binding): SkeinError {
  return new SkeinError('SKEIN_2407', `The links of ${tracked.model.name}.${relation.name} have no attributes.`, {
    className: tracked.model.name,
    property: relation.name,
    fix: 'Use add, or declare it on both sides with attributes: () => Class.',
  })
}
