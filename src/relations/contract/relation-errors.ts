import { classOf } from '../../codec/index.js'
import { EntityGoneError, RestrictedError, SkeinError } from '../../errors/index.js'
import { describeKey, type KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Binding } from './binding.js'
import { isEntity, type Member } from './member.js'
import type { Tracked } from './tracked.js'

export function restricted({ model, key }: Tracked, relation: RelationModel, member: KeyValue): RestrictedError {
  const { name, target, inverse, inTheirKeys } = relation
  const why = inTheirKeys ? `, and ${inverse} is part of its key` : ''
  return new RestrictedError(
    `${model.name} ${describeKey(key.key)} cannot be deleted: ${name} still has ${target} ${describeKey(member)}${why}.`,
    {
      className: model.name,
      property: name,
      key: key.key,
      fix: inTheirKeys
        ? `Delete all of them first, or declare the relation with onDelete: 'cascade'.`
        : `Delete or move all of them first, or declare the relation with onDelete: 'cascade' or 'detach'.`,
    },
  )
}

export function keyRefChanged(model: EntityModel, key: KeyValue, { name }: RelationModel, to: KeyValue): SkeinError {
  return new SkeinError(
    'SKEIN_2203',
    `${model.name} ${describeKey(key)}: ${name} is part of its key, so it cannot be changed to ${describeKey(to)}.`,
    {
      className: model.name,
      property: name,
      key,
      fix: 'A stored entity keeps its key: save a new entity under the new key and delete this one.',
    },
  )
}

export function keyRefLost(model: EntityModel, key: KeyValue, relation: RelationModel, held: KeyValue): SkeinError {
  const { name, target, kind, inverse } = relation
  const isMember = kind === 'manyToOne' && inverse !== undefined
  return new SkeinError(
    'SKEIN_2203',
    `${model.name} ${describeKey(key)}: ${name} is part of its key, so it cannot be taken from ${target} ${describeKey(held)}.`,
    {
      className: model.name,
      property: name,
      key,
      fix: isMember ? `Delete it, or declare ${target}.${inverse} with orphans: 'delete'.` : 'Delete it.',
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

export function noLinkRecords({ tracked, relation }: Binding): SkeinError {
  const { name: className } = tracked.model
  return new SkeinError('SKEIN_2407', `The links of ${className}.${relation.name} are not records.`, {
    className,
    property: relation.name,
    fix:
      relation.attributes === undefined
        ? 'Ask contains(), or declare the relation with through: () => Class.'
        : 'Ask attributesOf(), or declare the relation with through: () => Class.',
  })
}

export function attributesOfLinkRecord({ tracked, relation }: Binding): SkeinError {
  const { name: className } = tracked.model
  return new SkeinError('SKEIN_2407', `The links of ${className}.${relation.name} are records of ${relation.target}.`, {
    className,
    property: relation.name,
    fix: 'Ask linkOf() for the record of a link.',
  })
}

/** Refuses an entity of another class, and a key of another type, at the call that gives it; `className`: the class of the part that has the relation. */
export function checkMember(member: Member, { tracked, relation, reader, className }: Binding): void {
  const target = reader.entityModel(relation.target)
  if (!isEntity(member)) reader.recordKey(target, member)
  else if (!(member instanceof target.class)) throw wrongClass(tracked, relation, member, className)
}

export function wrongClass(
  { model, key }: Tracked,
  relation: RelationModel,
  member: object,
  className = model.name,
): SkeinError {
  const { name } = classOf(member)
  const isPlain = name === 'Object' || name === ''
  const { target } = relation
  return new SkeinError(
    'SKEIN_2408',
    `${className} ${describeKey(key.key)}: ${relation.name} is of ${target}, and was given a ${isPlain ? 'plain object' : name}.`,
    {
      className,
      property: relation.name,
      key: key.key,
      fix: isPlain
        ? `Give a ${target} or its key, which keysOf(${target}).of(parts) makes of its parts.`
        : `Give a ${target} or its key, or declare the relation with () => ${name}.`,
    },
  )
}

export function ownerGone({ name }: EntityModel, key: KeyValue): EntityGoneError {
  return new EntityGoneError(
    `${name} ${describeKey(key)} is not stored or is being deleted, so nothing can point to it.`,
    {
      className: name,
      key,
      fix: 'Choose another one, or save that one again first.',
    },
  )
}

/** A link record can neither be made nor restored alone while one of its ends is deleted softly. */
export function endIsDeleted(
  { model, link }: { readonly model: EntityModel; readonly link: RecordKey },
  end: EntityModel,
  key: KeyValue,
): EntityGoneError {
  return new EntityGoneError(
    `${model.name} ${describeKey(link.key)} leads to ${end.name} ${describeKey(key)}, which is deleted.`,
    {
      className: model.name,
      key: link.key,
      fix: `Restore ${end.name} ${describeKey(key)}: what was deleted with it comes back, too.`,
    },
  )
}

/** Name of a relation in messages. */
export function nameOf({ className, tracked, relation }: Binding): string {
  return `${className ?? tracked.model.name}.${relation.name}`
}

/** Checks an offset or a count of members; an invalid number would be taken for something else. */
export function checkNumber(
  name: 'offset' | 'count' | 'shards',
  value: number,
  least: number,
  binding: Binding | undefined,
  most = Infinity,
): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return
  const of = binding === undefined ? 'a collection' : nameOf(binding)
  const isShown = typeof value === 'number' || (value as unknown) === null || (value as unknown) === undefined
  const given = isShown ? String(value) : `of type ${typeof value}`
  throw new SkeinError('SKEIN_2431', `The ${name} given to ${of} cannot be ${given}.`, {
    className: binding?.tracked.model.name,
    property: binding?.relation.name,
    fix: `Give a whole number${least === -Infinity ? '' : ` from ${least} ${most === Infinity ? 'on' : `to ${most}`}`}.`,
  })
}

export function pagedOtherwise({ name }: RelationModel, option: 'after' | 'offset'): SkeinError {
  const [message, fix] =
    option === 'after'
      ? [`The members of ${name} are found by an index and have no numbers.`, 'Give the `next` of a page as `after`.']
      : [`The members of ${name} are numbered and have no positions to go on from.`, 'Give an `offset`.']
  return new SkeinError('SKEIN_2430', message, { property: name, fix })
}

export function noDeletedMembers(binding: Binding | undefined, isKnown: boolean): SkeinError {
  const of = binding === undefined ? 'the collection' : nameOf(binding)
  const message = isKnown
    ? `The members of ${of} have no @DeletedAt, so there are no deleted ones to show.`
    : `The option deleted of ${of} takes 'include' or 'only'.`
  return new SkeinError('SKEIN_2320', message, {
    className: binding?.tracked.model.name,
    property: binding?.relation.name,
    fix: 'Leave the option deleted out.',
  })
}

export function unknownOrder({ tracked, relation }: Binding, order: string): SkeinError {
  const { name: className } = tracked.model
  const names = (relation.orders ?? []).map(({ name }) => name)
  const fix =
    names.length === 0
      ? `Declare it: orders: { ${order}: ['…'] }.`
      : `Use ${names.map((name) => `'${name}'`).join(' or ')}, or declare it in orders.`
  const message = `${className}.${relation.name} has no order '${order}'.`
  return new SkeinError('SKEIN_2420', message, { className, property: relation.name, fix })
}

/** A question that only consolidated children answer. */
export function unordered({ strategy, relation, tracked }: Binding, call: string): SkeinError {
  const message = `${tracked.model.name}.${relation.name} is stored as ${strategy.model.strategy}, which cannot answer ${call}().`
  return new SkeinError('SKEIN_2420', message, {
    className: tracked.model.name,
    property: relation.name,
    fix: "Use page() or load(), or store the children with strategy: 'consolidate'.",
  })
}
