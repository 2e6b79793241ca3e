import type { BulkChange } from '../../query/bulk-changes.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** Reason why an update cannot be left to the server alone; undefined where it can. */
export function whySessionsUpdate(
  { kinds }: MappedClass,
  changes: readonly BulkChange[],
  validates: boolean,
): string | undefined {
  if (kinds.some(({ model }) => model.version !== undefined)) return 'the class has a @Version'
  if (kinds.some(({ model: { hooks } }) => hooks.beforeSave.length + hooks.afterSave.length > 0))
    return 'the class has hooks that saving runs'
  if (validates && kinds.some(({ hasRules }) => hasRules)) return 'the class has validation rules'
  if (kinds.some(({ model }) => model.ttl.onUpdate === 'refresh')) return 'an update starts the time to live again'
  const copied = changes.find((change) => kinds.some((kind) => isFollowed(kind, change)))
  if (copied !== undefined) return `copies of ${copied.property} follow it`
  const special = changes.find(({ operation }) => operation === undefined)
  if (special === undefined) return undefined
  const isCounter = kinds.some(({ model }) =>
    model.properties.some(({ name, role }) => name === special.property && role === 'counter'),
  )
  return `${special.property} is ${isCounter ? 'a @Counter' : 'more than one value'}`
}

export function whySessionsDelete({ kinds, needsEntityToDelete }: MappedClass): string | undefined {
  if (kinds.some(({ shards }) => shards !== undefined)) return 'the class has sharded counters'
  if (kinds.some(({ model }) => model.history !== undefined)) return 'the class has a @History'
  if (kinds.some(({ model }) => model.archive !== undefined)) return 'records of the class may be archived'
  if (kinds.some(({ standsAlone }) => !standsAlone)) return 'the class has relations, or others point to it'
  if (kinds.some(({ model }) => model.deletedAt !== undefined)) return 'the class has a @DeletedAt'
  return needsEntityToDelete ? 'the class has hooks that deleting runs' : undefined
}

/** True where other records have copies of the property that follow it. */
const isFollowed = ({ copies, model }: MappedClass, { bin }: BulkChange): boolean =>
  copies?.takenFrom(model).some(({ fromBin, refresh }) => fromBin === bin && refresh === 'onSave') === true
