import { EntityGoneError, SkeinError } from '../../errors/index.js'
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

/** The class does not say that the collection may be split. */
export function notOnDemand({ tracked, relation }: Binding, call: string): SkeinError {
  const { name } = tracked.model
  return new SkeinError(
    'SKEIN_2432',
    `${call}() of ${name}.${relation.name}: the collection is not sharded on demand.`,
    {
      className: name,
      property: relation.name,
      fix: "Add when to its decorator: @Sharded({ by: 'hash', shards: 8, when: { bytes: 131_072 } }).",
    },
  )
}

export function notNow({ tracked, relation }: Binding, call: string): SkeinError {
  const { name } = tracked.model
  const isNew = tracked.state === 'new'
  const why = isNew ? 'its record is not stored yet' : 'a transaction is under way, which cannot carry it'
  return new SkeinError('SKEIN_2432', `${call}() of ${name}.${relation.name}: ${why}.`, {
    className: name,
    property: relation.name,
    fix: isNew ? 'Save the entity first.' : `Call ${call}() after the transaction.`,
  })
}

/** Members take more bytes than the records that they are to move to may have. */
export function tooMany(
  { name }: EntityModel,
  key: KeyValue,
  property: string,
  bytes: number,
  shards: number,
): SkeinError {
  const message = `${name}.${property} of ${describeKey(key)}: the members take ${bytes} bytes, and do not fit into so few records.`
  return new SkeinError('SKEIN_2432', message, { className: name, property, key, fix: `Use shard(${shards}) or more.` })
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

/** The companions of a record that is being archived are on their way. */
export function beingArchived({ name }: EntityModel, key: KeyValue): EntityGoneError {
  return new EntityGoneError(`${name} ${describeKey(key)} is being archived.`, {
    className: name,
    key,
    fix: `Bring it back with session.unarchive(${name}, key), and load it.`,
  })
}

/** Others move members without end, or some record of the move is not what its owner says. */
export function neverStill({ name }: EntityModel, key: KeyValue, property: string): SkeinError {
  return new SkeinError(
    'SKEIN_3302',
    `${name}.${property} of ${describeKey(key)}: its members were moving to other records whenever they were read.`,
    {
      className: name,
      property,
      key,
      fix: `Read it again; if that does not help, run db.verify(${name}, { repair: true }), which completes an interrupted split.`,
    },
  )
}
