import { types } from 'node:util'
import { instanceToPlain, type ClassTransformOptions } from 'class-transformer'
import { tagKey, type KeyValue } from '../../keys/index.js'
import {
  shownClassOf,
  type BinType,
  type Collection,
  type EmbeddableModel,
  type Ref,
  type RelationModel,
} from '../../model/index.js'
import type { Codecs } from '../codecs.js'
import { codecsOf } from '../known-codecs.js'
import { classOf, readProperty, writeProperty } from '../own-property.js'
import { jsonSafe } from './json-safe.js'

export interface ToPlainOptions {
  /**
   * `'keys'` (the default) shows related entities by their keys, `'nested'` shows those that are loaded as objects (and the others,
   * and where the graph comes back to where it began, by their keys), `'none'` leaves relations out.
   */
  readonly relations?: 'keys' | 'nested' | 'none'
  /** Passed on to class-transformer (`groups`, `strategy`, …). */
  readonly transform?: ClassTransformOptions
}

/**
 * The entity as plain data for the edge of a program, an HTTP answer for instance. class-transformer's decorators are respected;
 * bigints become strings and bytes base64, so that `JSON.stringify` takes it.
 *
 * @example
 * response.json(toPlain(agent, { relations: 'nested' }))
 */
export function toPlain(entity: object, options: ToPlainOptions = {}): Record<string, unknown> {
  const codecs = codecsOf(classOf(entity))
  const view = new PlainView(codecs, options.relations ?? 'keys').of(entity, [])
  return jsonSafe(instanceToPlain(view, options.transform)) as Record<string, unknown>
}

/** Copies of entities with their prototypes, in which relations are replaced by what is to be shown of them. */
class PlainView {
  readonly #codecs: Codecs
  readonly #mode: 'keys' | 'nested' | 'none'

  constructor(codecs: Codecs, mode: 'keys' | 'nested' | 'none') {
    this.#codecs = codecs
    this.#mode = mode
  }

  of(entity: object, path: readonly object[], model = this.#codecs.modelOf(entity)): object {
    const relations = new Map(model.relations.map((relation) => [relation.name, relation]))
    const types = new Map(model.properties.map(({ name, type }) => [name, type]))
    const view = Object.create(Object.getPrototypeOf(entity) as object) as object
    for (const name of Object.keys(entity)) {
      const relation = relations.get(name)
      const value = readProperty(entity, name)
      if (!relation) writeProperty(view, name, withTextKeys(this.#inside(types.get(name), value, [...path, entity])))
      else if (this.#mode !== 'none') writeProperty(view, name, this.#related(relation, value, [...path, entity]))
    }
    return view
  }

  /** Embedded parts as they are shown; those without references stay as they are. */
  #inside(type: BinType | undefined, value: unknown, path: readonly object[]): unknown {
    if (type?.kind !== 'embedded' || typeof value !== 'object' || value === null) return value
    const model = this.#codecs.model.embeddable(type.part)
    if (!this.#hasRefs(model)) return value
    const shown = (part: unknown): unknown =>
      typeof part === 'object' && part !== null && !path.includes(part) ? this.of(part, path, model) : part
    if (type.shape === 'array') return Array.isArray(value) ? value.map(shown) : value
    if (type.shape !== 'map') return shown(value)
    const entries: [unknown, unknown][] = types.isMap(value) ? [...value] : Object.entries(value)
    return new Map(entries.map(([key, part]) => [key, shown(part)]))
  }

  /** True for a part that has references, or parts with some in it. */
  #hasRefs({ name, relations, properties }: EmbeddableModel, seen = new Set<string>()): boolean {
    if (relations.length > 0) return true
    if (seen.has(name)) return false
    seen.add(name)
    return properties.some(
      ({ type }) => type.kind === 'embedded' && this.#hasRefs(this.#codecs.model.embeddable(type.part), seen),
    )
  }

  #related(relation: RelationModel, value: unknown, path: readonly object[]): unknown {
    if (typeof value !== 'object' || value === null) return value
    if (relation.holds === 'ref') {
      const ref = value as Ref<object>
      return ref.isLoaded && ref.value !== null ? this.#member(relation, ref.value, path) : ref.key
    }
    const collection = value as Collection<object>
    return collection.isLoaded ? collection.items.map((member) => this.#member(relation, member, path)) : undefined
  }

  #member(relation: RelationModel, member: object, path: readonly object[]): unknown {
    // Parts have no record of their own: they are always shown.
    const isShown =
      this.#codecs.model.embeddables.has(relation.target) || (this.#mode === 'nested' && !path.includes(member))
    return isShown ? this.of(member, path) : this.#keyOf(member, relation)
  }

  #keyOf(member: object, relation: RelationModel): KeyValue | null {
    const { several } = this.#codecs.model.entity(shownClassOf(relation))
    try {
      const { key, model } = this.#codecs.of(member)
      return several === undefined ? key.keyOf(member) : tagKey(model.set, key.keyOf(member))
    } catch {
      // A new entity may have no key yet.
      return null
    }
  }
}

/** A Map whose keys are bytes with them in base64: as property names they would become text that they are not. */
function withTextKeys(value: unknown): unknown {
  if (!types.isMap(value)) return value
  const entries = [...(value as ReadonlyMap<unknown, unknown>)]
  if (!entries.some(([key]) => types.isUint8Array(key))) return value
  return new Map(entries.map(([key, each]) => [jsonSafe(key), each]))
}
