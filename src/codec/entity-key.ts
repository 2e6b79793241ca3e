import { bug, SkeinError } from '../errors/index.js'
import {
  KeyScheme,
  generateId,
  hashId,
  hashIdBytes,
  type KeyPart,
  type KeyPartValue,
  type KeyValue,
} from '../keys/index.js'
import { keyPartType } from '../model/compile/key-part-type.js'
import { untag, type EmbeddableModel, type EntityModel, type Model, type RelationModel } from '../model/index.js'
import { heldKey, isRefLike, type CodecOf } from './held-key.js'
import { isInherited, readProperty, writeProperty } from './own-property.js'
import { isMissing } from './property-codec.js'

interface EntityKeyOptions {
  /** Bytes of the longest key. */
  readonly maxBytes?: number
  readonly codecOf: CodecOf
}

/** Key, as people use it, of a reference that holds a stored one. */
type FromStored = (ref: string, stored: KeyValue) => KeyValue

/** The key of an entity, or the id of a part: read from its properties, generated, taken apart. */
export class EntityKey {
  readonly scheme: KeyScheme
  readonly #owner: EntityModel | EmbeddableModel
  readonly #refs: ReadonlyMap<string, RelationModel>
  /** Property that is the whole key; undefined where it is made of several, or a plain read might find something else. */
  readonly #sole: string | undefined
  readonly #codecOf: CodecOf

  constructor(owner: EntityModel | EmbeddableModel, model: Model, options: EntityKeyOptions) {
    if (!owner.key) throw bug(`${owner.name} has no key.`, { className: owner.name })
    this.#owner = owner
    const inKey = owner.relations.filter(({ name }) => owner.key!.properties.includes(name))
    this.#refs = new Map(inKey.map((relation) => [relation.name, relation]))
    const [first, ...others] = owner.key.properties
    this.#sole = others.length > 0 || isInherited(first) ? undefined : first
    this.scheme = new KeyScheme({
      ...owner.key,
      className: owner.name,
      types: partTypes(owner, model),
      maxBytes: options.maxBytes,
    })
    this.#codecOf = options.codecOf
  }

  /** The key that the entity's properties make; `fromStored` gives the key of a reference that holds a stored one. */
  keyOf(entity: object, fromStored?: FromStored): KeyValue {
    const { format, properties } = this.scheme
    if (format === undefined && this.#refs.size === 0) return this.scheme.checked(readProperty(entity, properties[0]))
    const parts = this.#read(entity, this.#owner.key!.properties, fromStored)
    const missing = [...this.#refs.keys()].find((name) => parts[name] === null || parts[name] === undefined)
    if (missing !== undefined) throw this.#withoutRef(missing)
    return this.scheme.keyOf(parts)
  }

  /** True where one property is the whole key and has this value: asked of every entity that is read or written. */
  isShown(entity: object, key: KeyValue): boolean {
    return this.#sole !== undefined && (entity as Record<string, unknown>)[this.#sole] === key
  }

  /** Null while the entity lacks what its key is made of. */
  tryKeyOf(entity: object): KeyValue | null {
    try {
      return this.keyOf(entity)
    } catch {
      return null
    }
  }

  /** Gives a new entity without a key one, where the model says how; true when nobody else can have it. */
  generate(entity: object): boolean {
    const { generate, properties, kind } = this.#owner.key!
    if (generate === undefined || !isMissing(readProperty(entity, properties[0]))) return false
    const hash = kind === 'bytes' ? hashIdBytes : hashId
    const id = typeof generate === 'string' ? generateId(generate) : hash(this.#read(entity, generate.hash))
    writeProperty(entity, properties[0], id)
    return typeof generate === 'string'
  }

  /** Sets the properties that the key is made of, for an entity that was read without its key's bins. */
  assign(entity: object, key: KeyValue): void {
    const { format, properties } = this.scheme
    if (format === undefined && this.#refs.size === 0) return writeProperty(entity, properties[0], key)
    const parts = this.scheme.parts(key)
    for (const property of Object.keys(parts)) {
      if (!this.#refs.has(property)) writeProperty(entity, property, parts[property])
    }
  }

  /** The properties of the key; a ref stands for the key it holds. */
  partsOf(entity: object): Readonly<Record<string, unknown>> {
    return this.#read(entity, this.#owner.key!.properties)
  }

  #read(entity: object, properties: readonly string[], fromStored?: FromStored): Record<string, KeyPartValue> {
    const parts = Object.create(null) as Record<string, KeyPartValue>
    for (const property of properties) {
      const value = readProperty(entity, property)
      const relation = this.#refs.get(property)
      const isKey = relation !== undefined && isRefLike(value)
      const part = (isKey ? heldKey(value, relation, this.#codecOf, true) : value) as KeyPartValue
      parts[property] =
        isKey && part !== null && fromStored !== undefined ? fromStored(property, part as KeyValue) : part
    }
    return parts
  }

  #withoutRef(property: string): SkeinError {
    const { name } = this.#owner
    return new SkeinError('SKEIN_2102', `${name}.${property} is not set, and the key of ${name} is made of it.`, {
      className: name,
      property,
      fix: `Set it before the entity is stored, or give it to create(${name}, { ${property} }).`,
    })
  }
}

function partTypes(owner: EntityModel | EmbeddableModel, model: Model): Record<string, KeyPart> {
  // Without a prototype, so that a property called __proto__ is just a name.
  const types = Object.create(null) as Record<string, KeyPart>
  for (const name of owner.key!.properties) {
    const property = owner.properties.find((each) => each.name === name)
    const relation = owner.relations.find((each) => each.name === name)
    const type = property ? keyPartType(property.type) : relation && refType(model.entity(relation.target))
    if (type === undefined)
      throw bug(`${owner.name}.${name} cannot be part of a key.`, { className: owner.name, property: name })
    types[name] = type
  }
  return types
}

/** Type of a reference in a key; of several classes, the text must name one of them. */
function refType(target: EntityModel): KeyPart {
  if (target.several === undefined) return target.key.kind
  const checked = (value: unknown): string | undefined =>
    untag(target, value, 'kind') === undefined ? undefined : (value as string)
  const wants = `a key of ${target.name} with its set, such as '${target.several[0].set}:…'`
  return { wants, format: checked, parse: checked }
}
