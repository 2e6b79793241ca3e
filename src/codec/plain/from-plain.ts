import { plainToClassFromExist, type ClassTransformOptions } from 'class-transformer'
import type { KeyValue } from '../../keys/index.js'
import type { Collection, EmbeddableModel, EntityClass, EntityModel, Ref, RelationModel } from '../../model/index.js'
import type { Codecs } from '../codecs.js'
import { instantiate } from '../instantiate.js'
import { codecsOf } from '../known-codecs.js'
import { readProperty, writeProperty } from '../own-property.js'
import { fromPlainValue } from './from-plain-value.js'

export interface FromPlainOptions {
  /** Passed on to class-transformer (`groups`, `excludeExtraneousValues`, …). */
  readonly transform?: ClassTransformOptions
}

/**
 * An entity made of plain data, the body of an HTTP request for instance: the inverse of `toPlain`. class-transformer's decorators
 * are respected; dates, bigints, bytes, Sets, Maps and parts get the types their properties have; relations take keys or objects.
 *
 * @example
 * await session.save(fromPlain(Agent, request.body))
 */
export function fromPlain<T extends object>(
  entityClass: EntityClass<T>,
  data: object,
  options: FromPlainOptions = {},
): T {
  return new PlainReader(codecsOf(entityClass), options).entity(entityClass, data) as T
}

class PlainReader {
  readonly #codecs: Codecs
  readonly #options: FromPlainOptions

  constructor(codecs: Codecs, options: FromPlainOptions) {
    this.#codecs = codecs
    this.#options = options
  }

  entity(entityClass: EntityClass, data: object): object {
    return this.#instance(this.#codecs.model.entity(entityClass), data)
  }

  #instance(model: EntityModel | EmbeddableModel, data: object): object {
    const relations = new Set(model.relations.map(({ name }) => name))
    const values = Object.fromEntries(Object.entries(data).filter(([name]) => !relations.has(name)))
    const instance = plainToClassFromExist(this.#create(model), values, this.#options.transform)
    for (const { name, type } of model.properties) {
      const value = readProperty(instance, name)
      const part = (partName: string, fields: object): object =>
        this.#instance(this.#codecs.model.embeddable(partName), fields)
      if (value !== undefined && value !== null) writeProperty(instance, name, fromPlainValue(type, value, part))
    }
    for (const relation of model.relations) this.#link(instance, relation, readProperty(data, relation.name))
    return instance
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

  #link(instance: object, relation: RelationModel, data: unknown): void {
    const holder = readProperty(instance, relation.name)
    if (data === undefined || data === null || typeof holder !== 'object' || holder === null) return
    if (relation.holds === 'ref') (holder as Ref<object>).set(this.#target(relation, data))
    else (holder as Collection<object>).add(...(data as readonly unknown[]).map((each) => this.#target(relation, each)))
  }

  #target(relation: RelationModel, data: unknown): object | KeyValue {
    const { model } = this.#codecs
    const isPart = relation.strategy === 'consolidate'
    const target = isPart ? model.embeddable(relation.target) : model.entity(relation.target)
    if (typeof data === 'object' && data !== null) return this.#instance(target, data)
    return fromPlainValue({ kind: target.key!.kind }, data, () => instance(target)) as KeyValue
  }
}

const instance = (model: EntityModel | EmbeddableModel): object => instantiate(model.class)
