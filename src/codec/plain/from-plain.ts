import { plainToClassFromExist, type ClassTransformOptions } from 'class-transformer'
import { SkeinError } from '../../errors/index.js'
import type { KeyValue } from '../../keys/index.js'
import {
  didYouMean,
  shownClassOf,
  untag,
  type Collection,
  type CollectionProperty,
  type EmbeddableModel,
  type EntityClass,
  type EntityModel,
  type Ref,
  type RefProperty,
  type RelationModel,
} from '../../model/index.js'
import type { Codecs } from '../codecs.js'
import { instantiate } from '../instantiate.js'
import { codecsOf } from '../known-codecs.js'
import { readProperty, writeProperty } from '../own-property.js'
import { shown } from '../value-problem.js'
import { checkPlain, unfit } from './check-plain.js'
import { fromPlainValue } from './from-plain-value.js'

type Method = (...args: never[]) => unknown
/** Properties and relations, without methods. */
type Field<T> = keyof { [K in keyof T & string as NonNullable<T[K]> extends Method ? never : K]: K }

export interface FromPlainOptions<T extends object = object> {
  /**
   * `'none'` (the default) refuses relations, `'keys'` takes the keys of other records and the parts of this one, `'nested'` takes
   * other records as objects, too, which a save then stores.
   */
  readonly relations?: 'none' | 'keys' | 'nested'
  /** The properties and relations that may be given; others are refused. Unless given, all properties of the class. */
  readonly only?: readonly (Field<T> | RefProperty<T> | CollectionProperty<T>)[]
  /** Passed on to class-transformer (`groups`, `excludeExtraneousValues`, …). */
  readonly transform?: ClassTransformOptions
}

/** Options of any class: names in `only` are plain strings. */
type Options = Omit<FromPlainOptions, 'only'> & { readonly only?: readonly string[] }

const OPTIONS = ['relations', 'only', 'transform']
const RELATIONS = ['none', 'keys', 'nested']

/**
 * An entity made of plain data, the body of an HTTP request for instance. Names that the class does not store are refused, and so are
 * relations unless they are asked for. class-transformer's decorators are respected; dates, bigints, bytes, Sets, Maps and parts get
 * the types their properties have.
 *
 * @example
 * await session.save(fromPlain(Agent, request.body, { only: ['id', 'name'] }))
 */
export function fromPlain<T extends object>(
  entityClass: EntityClass<T>,
  data: object,
  options: FromPlainOptions<T> = {},
): T {
  const codecs = codecsOf(entityClass)
  const model = codecs.model.entity(entityClass)
  checkOptions(model, options)
  checkPlain(model.name, data)
  return new PlainReader(codecs, options).instance(model, data, options.only) as T
}

function checkOptions(model: EntityModel, options: Options): void {
  const wrong = Object.keys(options).find((name) => !OPTIONS.includes(name))
  const { relations = 'none', only = [] } = options
  const known = [...model.properties, ...model.relations].map(({ name }) => name)
  const [problem, fix] =
    wrong !== undefined
      ? [`fromPlain() does not know the option '${wrong}'`, didYouMean(wrong, OPTIONS)]
      : !RELATIONS.includes(relations)
        ? [`${shown(relations)} is not a valid value for the option relations`, "Use 'none', 'keys' or 'nested'."]
        : !Array.isArray(only) || only.some((name) => typeof name !== 'string')
          ? ['The option only takes a list of names', `${model.name} has: ${known.join(', ')}.`]
          : [undefined, '']
  if (problem !== undefined) throw new SkeinError('SKEIN_2320', `${problem}.`, { className: model.name, fix })
}

class PlainReader {
  readonly #codecs: Codecs
  readonly #options: Options

  constructor(codecs: Codecs, options: Options) {
    this.#codecs = codecs
    this.#options = options
  }

  instance(model: EntityModel | EmbeddableModel, data: object, only?: readonly string[]): object {
    const instance = this.#create(model)
    const before = new Map(Object.entries(instance))
    const relations = new Map(model.relations.map((relation) => [relation.name, relation]))
    for (const name of Object.keys(data)) this.#checkGiven(model, relations.get(name), name, only)
    this.#transform(
      model,
      instance,
      Object.entries(data).filter(([name]) => !relations.has(name)),
    )
    this.#checkUnknown(model, instance, before, only)
    for (const { name, type } of model.properties) {
      const value = readProperty(instance, name)
      const part = (partName: string, fields: object): object =>
        this.instance(this.#codecs.model.embeddable(partName), fields)
      if (value === undefined || value === null) continue
      checkList(model, name, readProperty(data, name), Array.isArray(value) && before.get(name) === value)
      writeProperty(instance, name, fromPlainValue(type, value, part))
    }
    for (const relation of model.relations) this.#link(model, instance, relation, readProperty(data, relation.name))
    return instance
  }

  /** class-transformer throws whatever it meets: a body is no reason for a TypeError. */
  #transform(model: EntityModel | EmbeddableModel, instance: object, values: [string, unknown][]): void {
    try {
      plainToClassFromExist(instance, Object.fromEntries(values), this.#options.transform)
    } catch (cause) {
      if (cause instanceof SkeinError) throw cause
      const fix = 'See the cause, and the @Type and @Transform decorators of the class.'
      throw new SkeinError('SKEIN_2205', `${model.name}: class-transformer cannot convert the data.`, {
        className: model.name,
        fix,
        cause,
      })
    }
  }

  #checkGiven(
    model: EntityModel | EmbeddableModel,
    relation: RelationModel | undefined,
    name: string,
    only: readonly string[] | undefined,
  ): void {
    const isKnown = relation !== undefined || model.properties.some((property) => property.name === name)
    if (only !== undefined && isKnown && !only.includes(name)) throw notAsked(model, name, only)
    const { relations = 'none' } = this.#options
    if (relation === undefined || relations !== 'none') return
    const problem = `the data holds the relation '${name}', and fromPlain takes no relations unless asked to`
    throw unfit(model.name, name, problem, "Leave it out, or allow it: { relations: 'keys', only: ['…'] }")
  }

  /** Names are looked for only now: class-transformer may have renamed or dropped them. */
  #checkUnknown(
    model: EntityModel | EmbeddableModel,
    instance: object,
    before: ReadonlyMap<string, unknown>,
    only: readonly string[] | undefined,
  ): void {
    const known = new Set(only ?? model.properties.map(({ name }) => name))
    for (const [name, value] of Object.entries(instance)) {
      if (known.has(name) || (before.has(name) && Object.is(before.get(name), value))) continue
      if (only !== undefined) throw notAsked(model, name, only)
      const hint = didYouMean(name, [...known])
      throw unfit(
        model.name,
        name,
        `it has no stored property '${name}'`,
        `${hint}Leave it out, or name it in only: [...]`,
      )
    }
  }

  /** With empty refs and collections, also where the constructor that would make them is not called. */
  #create(model: EntityModel | EmbeddableModel): object {
    const instance = instantiate(model.class)
    for (const relation of model.relations) {
      if (typeof readProperty(instance, relation.name) === 'object') continue
      const holder = this.#codecs.makeRelation?.(instance, relation, undefined, true)
      if (holder !== undefined) writeProperty(instance, relation.name, holder)
    }
    return instance
  }

  #link(model: EntityModel | EmbeddableModel, instance: object, relation: RelationModel, data: unknown): void {
    const holder = readProperty(instance, relation.name)
    if (data === undefined || data === null || typeof holder !== 'object' || holder === null) return
    if (relation.holds === 'ref') return (holder as Ref<object>).set(this.#target(model, relation, data))
    if (!Array.isArray(data)) {
      throw unfit(model.name, relation.name, `'${relation.name}' takes a list, not ${shown(data)}`, 'Give a list')
    }
    ;(holder as Collection<object>).add(...data.map((each) => this.#target(model, relation, each)))
  }

  #target(owner: EntityModel | EmbeddableModel, relation: RelationModel, data: unknown): object | KeyValue {
    const { model } = this.#codecs
    const isPart = model.embeddables.has(relation.target)
    const target = isPart ? model.embeddable(relation.target) : model.entity(shownClassOf(relation))
    if (target.kind === 'entity' && target.several !== undefined) return oneOfSeveral(owner, relation, target, data)
    const isObject = typeof data === 'object' && data !== null && !Array.isArray(data)
    if (isObject && (isPart || this.#options.relations === 'nested')) return this.instance(target, data)
    if (isPart || !['string', 'number', 'bigint'].includes(typeof data)) {
      const wanted = isPart ? `a ${target.name} as an object` : `a key of ${target.name}`
      throw unfit(owner.name, relation.name, `'${relation.name}' takes ${wanted}, not ${shown(data)}`, `Give ${wanted}`)
    }
    return fromPlainValue({ kind: target.key!.kind }, data, () => instantiate(target.class)) as KeyValue
  }
}

/** Of several classes, only a key with its set says which one is meant. */
function oneOfSeveral(
  owner: EntityModel | EmbeddableModel,
  { name }: RelationModel,
  target: EntityModel,
  data: unknown,
): KeyValue {
  if (untag(target, data, 'kind') !== undefined) return data as KeyValue
  const wanted = `a key of ${target.name} with its set, such as '${target.several![0].set}:…'`
  throw unfit(owner.name, name, `'${name}' takes ${wanted}, not ${shown(data)}`, `Give ${wanted}`)
}

/** class-transformer writes an object that stands where a list is declared into the list, or drops it. */
function checkList({ name }: EntityModel | EmbeddableModel, property: string, given: unknown, isKept: boolean): void {
  if (!isKept || typeof given !== 'object' || given === null || Array.isArray(given)) return
  throw unfit(name, property, `'${property}' takes a list, not ${shown(given)}`, 'Give a list')
}

function notAsked({ name }: EntityModel | EmbeddableModel, property: string, only: readonly string[]): SkeinError {
  return unfit(
    name,
    property,
    `'${property}' is not one of the properties that may be given`,
    `Leave it out; only takes: ${only.join(', ')}`,
  )
}
