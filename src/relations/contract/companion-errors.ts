import { SkeinError } from '../../errors/index.js'
import { describeKey, type KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import type { Binding } from './binding.js'
import type { RecordKey } from '../../plan/record-key.js'

/** Members are found by the order of their keys, over several records. */
export function pagedByCursor({ name }: RelationModel): SkeinError {
  return new SkeinError('SKEIN_2430', `The members of ${name} are in several records and have no numbers.`, {
    property: name,
    fix: 'Give the `next` of a page as `after`.',
  })
}

export function notByTime({ relation, tracked }: Binding): SkeinError {
  const where = `${tracked.model.name}.${relation.name}`
  return new SkeinError(
    'SKEIN_2420',
    `The members of ${where} are not kept by a date, so they have no window of time.`,
    {
      className: tracked.model.name,
      property: relation.name,
      fix: "Use range(), or keep them by a date: @Sharded({ by: 'day', on: '…' }).",
    },
  )
}

export function storedScheme({ name }: EntityModel, { key }: RecordKey, property: string, bin: string): SkeinError {
  return new SkeinError(
    'SKEIN_3101',
    `${name}.${property} of ${describeKey(key)}: the bin '${bin}' does not say in which records its members are.`,
    { className: name, property, key, fix: 'Repair the record; another program may have written it.' },
  )
}

export function companionRefused({ name }: EntityModel, key: KeyValue, property: string): SkeinError {
  return new SkeinError(
    'SKEIN_3301',
    `${name} ${describeKey(key)}: a companion record of ${property} takes no changes, though ${name} ${describeKey(key)} is not being deleted.`,
    {
      className: name,
      property,
      key,
      fix: `Flush again; if that does not help, run db.verify(${name}, { repair: true }): a delete may have been cut short.`,
    },
  )
}
