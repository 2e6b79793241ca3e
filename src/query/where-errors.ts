import { quoted, SkeinError } from '../errors/index.js'
import { didYouMean, STORED_KEYS, type EntityClass, type EntityModel } from '../model/index.js'
import type { Field } from './field.js'

/** Reason why a condition cannot be asked, before the class is known; becomes a SkeinError where it is. */
export class ConditionProblem extends Error {
  readonly path: string
  readonly fix: string

  constructor(path: string, message: string, fix: string) {
    super(message)
    this.path = path
    this.fix = fix
  }
}

/** A condition was built from what the function of another query was given. */
export class OfAnotherQuery extends ConditionProblem {
  constructor(other: EntityClass | undefined, paths: readonly string[]) {
    const place = other === undefined ? 'no property' : paths.map((path) => `${other.name}.${path}`).join(', ')
    super('filter', `it is given a condition on ${place}`, 'Build it from the properties that the function is given.')
  }
}

export const badOperand = ({ path }: Field, operator: string, takes: string): ConditionProblem =>
  new ConditionProblem(path, `'${operator}' ${takes}`, 'Give it as docs/reference/queries.md shows.')

export function askedForNaN({ path, shape }: Field): ConditionProblem {
  const fix =
    shape.kind === 'scalar'
      ? `Find it with filter((x) => x.${path}.ne(null).and(x.${path}.eq(x.${path}).not())).`
      : 'No condition finds it in a list or a map: look at the entities.'
  return new ConditionProblem(path, 'NaN equals nothing, not even itself', fix)
}

export function unknownOperator({ path }: Field, operator: unknown, known: readonly string[]): ConditionProblem {
  const fix = `${typeof operator === 'string' ? didYouMean(operator, known) : ''}It has: ${known.join(', ')}.`
  return new ConditionProblem(path, `it has no condition ${quoted(operator)}`, fix)
}

export function badCondition(
  { name }: Pick<EntityModel, 'name'>,
  { path, message, fix }: ConditionProblem,
): SkeinError {
  const place = path === '' ? name : `${name}.${path}`
  return new SkeinError('SKEIN_2510', `${place}: ${message}.`, { className: name, property: path, fix })
}

/** A page does not know what earlier ones have shown. */
export function pagedCompanions({ name }: Pick<EntityModel, 'name'>): SkeinError {
  const message = `A query for ${name} by several members of a collection in shards cannot be paged or changed in bulk: an owner may have them in several records.`
  const fix = 'Iterate over the query, or page by one member at a time: whereHas.'
  return new SkeinError('SKEIN_2510', message, { className: name, fix })
}

/** A member that was added again on another day is in both buckets, and a page does not know what earlier ones have shown. */
export function pagedBuckets({ name }: Pick<EntityModel, 'name'>, property: string): SkeinError {
  const message = `A query for ${name} by a member of ${name}.${property}, which is in buckets of time, cannot be paged without an order or changed in bulk: an owner may have the member in several buckets.`
  const fix = 'Iterate over the query, or sort its pages: orderBy(…).page({ count }).'
  return new SkeinError('SKEIN_2510', message, { className: name, property, fix })
}

/** Owners are found in two sets, and a cursor is a place in one. */
export function pagedOnDemand({ name }: Pick<EntityModel, 'name'>): SkeinError {
  const message = `A query for ${name} by a member of a collection that is sharded on demand cannot be paged or changed in bulk: it may be in the records of ${name} or in their companions.`
  return new SkeinError('SKEIN_2510', message, { className: name, fix: 'Iterate over the query.' })
}

export function noSuchField(model: EntityModel, path: string, known: readonly string[]): SkeinError {
  const { name, relations, properties } = model
  const relation = relations.find((each) => each.name === path)
  const sharded = properties.find((each) => each.name === path && each.sharding !== undefined)
  if (sharded !== undefined) {
    const what = sharded.countOf === undefined ? 'counter' : 'count'
    return new SkeinError('SKEIN_2310', `${name}.${path} is a sharded ${what}, which no condition can see.`, {
      className: name,
      property: path,
      fix: `Load the entities and compare it here, or keep the ${what} in the record: leave out @Sharded.`,
    })
  }
  const fix =
    relation === undefined
      ? `${didYouMean(path, known)}It has: ${known.join(', ')}.`
      : relation.holds === 'collection'
        ? `Ask for its members: whereHas('${path}', member).`
        : 'Its key is the key of the entity itself: load it by that.'
  const what =
    relation === undefined
      ? `has no stored property '${path}'`
      : `stores nothing of '${path}' that a condition can name`
  return new SkeinError('SKEIN_2310', `${name} ${what}.`, { className: name, property: path, fix })
}

export function noSuchMembers(model: EntityModel, name: string, known: readonly string[]): SkeinError {
  const { name: className, relations } = model
  const relation = relations.find((each) => each.name === name)
  const what = relation === undefined ? 'has no collection' : 'does not hold the keys of the members of'
  const fix =
    relation?.through !== undefined
      ? `Ask for its links: db.query(${relation.target}).where({ ${relation.through.ref}: … }).`
      : relation?.holds === 'collection' && relation.bin === undefined && relation.inverse !== undefined
        ? `Its members hold the key: db.query(${relation.target}).where({ ${relation.inverse}: … }).`
        : relation?.holds === 'ref'
          ? `Ask for its key: where({ ${name}: … }).`
          : relation !== undefined && STORED_KEYS[relation.strategy] === undefined
            ? 'Its children are stored inside the record: keep an inverseIndex, and ask session.pointingTo.'
            : `It has: ${known.join(', ') || 'none'}.`
  return new SkeinError('SKEIN_2310', `${className} ${what} '${name}'.`, { className, property: name, fix })
}
