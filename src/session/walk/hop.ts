import { SkeinError } from '../../errors/index.js'
import { shownClassOf, type EmbeddableModel, type EntityModel, type RelationModel } from '../../model/index.js'
import { isAtLeast, PATHS_SINCE } from '../../driver/build.js'
import type { Expression } from '../../plan/expression.js'
import { compileConditions } from '../../records/conditions.js'
import { compileWhere, inClass } from '../../query/compile-where.js'
import { fieldsOf } from '../../query/fields-of.js'
import { compileMatch, type Match } from '../../query/match-value.js'
import { allOf } from '../../query/term.js'
import type { RelationStrategy } from '../../relations/contract/relation-strategy.js'
import { checkCount, checkNames, notValid, type NamesOf } from '../../model/call-options.js'
import type { SessionContext } from '../context/session-context.js'
import { unknownPartRelation, unknownRelation } from '../context/session-errors.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { classConditions } from '../query/class-conditions.js'
import { refEncoder } from '../query/class-source.js'
import type { HopOptions, WalkOptions } from './walk-types.js'

/** Class of what a walk has reached: stored as records, or as parts inside them. */
export type Reached =
  | { readonly kind: 'records'; readonly mapped: MappedClass; readonly several?: readonly MappedClass[] }
  | { readonly kind: 'parts'; readonly part: EmbeddableModel }

/** A hop, checked and compiled. */
export interface Hop {
  readonly relation: RelationModel
  /** The relation in each class that the entities it starts from may have; empty where these are parts. */
  readonly strategies: ReadonlyMap<MappedClass, RelationStrategy>
  readonly to: Reached
  readonly first?: number
  readonly last?: number
  readonly limit?: number
  /** On the attributes of the link. */
  readonly where?: Match
  /** Filter for the server, where it can say it: on the entry of a map of links. */
  readonly attributeFilter?: Expression
  /** On the link record, as it is stored; asked of the server. */
  readonly linkFilter?: Expression
  /** Tests a link that is not stored as the session has it; undefined where only the server can say it. */
  readonly linkMatch?: Match
  /** On the record that it leads to, and on its class; asked of the server. */
  readonly filter?: Expression
  /** On the part that it leads to. */
  readonly match?: Match
}

const HOP: NamesOf<HopOptions<object, never>> = { where: true, to: true, first: true, last: true, limit: true }

interface HopParts {
  readonly context: SessionContext
  readonly options: Pick<WalkOptions, 'deleted'>
}

type Given = HopOptions<Record<string, never>, string>

/** Checks a hop before anything is read. */
export function hopOf(from: Reached, name: string, options: Given | undefined, parts: HopParts): Hop {
  const { context } = parts
  checkNames('out()', options, HOP)
  const { where, to, ...counts } = options ?? {}
  for (const [option, count] of Object.entries(counts)) checkCount(option, count)
  if (counts.first !== undefined && counts.last !== undefined)
    throw notValid('A hop takes first or last, not both.', 'Leave one of them out.')
  const { classes } = context
  const strategies = from.kind === 'records' ? strategiesOf(from.several ?? [from.mapped], name) : NONE
  const relation = from.kind === 'records' ? [...strategies.values()][0].model : refOf(from.part, name)
  const other = [...strategies.values()].find(({ model }) => shownClassOf(model) !== shownClassOf(relation))
  if (other !== undefined) throw severalTargets(from, relation, other.model)
  const part = classes.model.embeddables.get(relation.target)
  const target: Reached =
    part === undefined ? recordsOf(classes.severalOf(shownClassOf(relation))) : { kind: 'parts', part }
  const isUnordered = [...strategies.values()].some(({ members }) => members?.byPosition !== undefined)
  if (isUnordered && (counts.first ?? counts.last) !== undefined) throw withoutOrder(from, relation)
  return {
    relation,
    strategies,
    to: target,
    ...counts,
    ...(where !== undefined && linkConditions(from, relation, where, parts)),
    ...(to !== undefined && conditionsOn(target, to, parts)),
  }
}

const NONE: ReadonlyMap<MappedClass, RelationStrategy> = new Map()

function recordsOf(classes: readonly MappedClass[]): Reached {
  return { kind: 'records', mapped: classes[0], ...(classes.length > 1 && { several: classes }) }
}

function strategiesOf(classes: readonly MappedClass[], name: string): ReadonlyMap<MappedClass, RelationStrategy> {
  const found = new Map<MappedClass, RelationStrategy>()
  for (const kind of new Set(classes.flatMap((mapped) => [mapped, ...mapped.kinds]))) {
    const strategy = kind.relations.find(({ relation }) => relation === name)
    if (strategy !== undefined) found.set(kind, strategy)
  }
  if (found.size === 0) throw unknownRelation(classes[0], name)
  return found
}

function refOf(part: EmbeddableModel, name: string): RelationModel {
  const relation = part.relations.find((each) => each.name === name)
  if (relation === undefined) throw unknownPartRelation(part, name)
  return relation
}

/** Conditions on links: on their attributes, or on their records. */
function linkConditions(
  from: Reached,
  relation: RelationModel,
  where: unknown,
  parts: HopParts,
): Pick<Hop, 'where' | 'attributeFilter' | 'linkFilter' | 'linkMatch'> {
  const { context } = parts
  if (relation.through === undefined)
    return {
      where: attributesMatch(from, relation, where, context),
      attributeFilter: attributesOnServer(from, relation, where, context),
    }
  const link = context.classes.of(relation.target)
  const { filter } = conditionsOn({ kind: 'records', mapped: link }, where, parts)
  return { linkFilter: filter!, linkMatch: tried(() => matchOf(link.model, where, context)) }
}

function attributesMatch(from: Reached, relation: RelationModel, where: unknown, context: SessionContext): Match {
  const { attributes, name } = relation
  const className = classNameOf(from)
  if (attributes === undefined)
    throw new SkeinError('SKEIN_2407', `The links of ${className}.${name} have no attributes for where.`, {
      className,
      property: name,
      fix: 'Use to for conditions on what they lead to, or declare the relation with attributes: () => Class.',
    })
  return matchOf(context.classes.model.embeddable(attributes), where, context)
}

/** Returns undefined where the server is too old, or does not know a condition: then all links are read, and checked here. */
function attributesOnServer(
  from: Reached,
  { attributes }: RelationModel,
  where: unknown,
  { classes, driver }: SessionContext,
): Expression | undefined {
  if (from.kind !== 'records' || !isAtLeast(driver.capabilities.build, PATHS_SINCE)) return undefined
  return tried(() => compileConditions(from.mapped.model, attributes!, where, classes.codecs) || undefined)
}

/** Undefined where conditions cannot be said in that way. */
function tried<T>(compile: () => T): T | undefined {
  try {
    return compile()
  } catch (error) {
    if (error instanceof SkeinError) return undefined
    throw error
  }
}

function conditionsOn(target: Reached, to: unknown, { context, options }: HopParts): Pick<Hop, 'filter' | 'match'> {
  if (target.kind === 'parts') return { match: matchOf(target.part, to, context) }
  const { mapped, several } = target
  const { classes, identity } = context
  if (several !== undefined) throw conditionsOnSeveral(several)
  const terms = compileWhere(
    mapped.model,
    fieldsOf(mapped.model, classes.codecs, refEncoder(classes, identity.tenant)),
    to,
  )
  const own = classConditions(mapped, identity.tenant, options.deleted)
  return { filter: allOf([...own, ...terms.map(({ expression }) => expression)]) }
}

function matchOf(part: EmbeddableModel | EntityModel, where: unknown, { classes, identity }: SessionContext): Match {
  const values = { properties: part.properties, relations: [] }
  const fields = fieldsOf(values, classes.codecs, refEncoder(classes, identity.tenant))
  return inClass(part, () => compileMatch(part, fields, where))
}

export const classNameOf = (reached: Reached): string =>
  reached.kind === 'records' ? reached.mapped.model.name : reached.part.name

function withoutOrder(from: Reached, { name, companions }: RelationModel): SkeinError {
  const className = classNameOf(from)
  const where = companions === undefined ? 'found by an index' : 'in several records'
  const message = `The members of ${className}.${name} are ${where} and have no order.`
  return new SkeinError('SKEIN_2430', message, {
    className,
    property: name,
    fix: 'Use limit instead of first or last.',
  })
}

function conditionsOnSeveral(several: readonly MappedClass[]): SkeinError {
  const names = several.map(({ model }) => model.name).join(' or ')
  return new SkeinError('SKEIN_2312', `The hop leads to ${names}, and conditions in to are about one class.`, {
    fix: 'Leave to out, and choose among the entities that the walk gives.',
  })
}

function severalTargets(from: Reached, relation: RelationModel, other: RelationModel): SkeinError {
  const className = classNameOf(from)
  const { name } = relation
  const [one, another] = [shownClassOf(relation), shownClassOf(other)]
  const message = `${name} leads to ${one} from one subclass of ${className}, and to ${another} from another.`
  return new SkeinError('SKEIN_2312', message, {
    className,
    property: name,
    fix: 'Walk from each subclass by itself.',
  })
}
