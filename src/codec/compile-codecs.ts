import { bug } from '../errors/index.js'
import type { KeyValue } from '../keys/index.js'
import {
  childrenOf,
  refsOf,
  type BinType,
  type Collection,
  type EmbeddableModel,
  type EntityModel,
  type Model,
  type PropertyModel,
  type PropertyRole,
  type RelationModel,
} from '../model/index.js'
import { BinProperty } from './bin-property.js'
import { ChildrenField } from './children-field.js'
import type { ClassFunctions, ClassShape } from './class-functions.js'
import { Codecs } from './codecs.js'
import type { RelationFactory } from './relation-factory.js'
import { CopyProperty } from './copy-property.js'
import { CountProperty } from './count-property.js'
import { CounterProperty } from './counter-property.js'
import { EntityCodec } from './entity-codec.js'
import { EntityKey } from './entity-key.js'
import { generateClass, mayGenerate } from './generator.js'
import { rememberCodecs } from './known-codecs.js'
import { heldKey, type RefLike } from './held-key.js'
import { interpretClass } from './interpreter.js'
import { readProperty, writeProperty } from './own-property.js'
import { PartCodec } from './part-codec.js'
import type { InlineKind, Loaded, PropertyCodec } from './property-codec.js'
import { RefField } from './ref-field.js'
import { SpreadProperty } from './spread-property.js'
import type { TypeCodec } from './type-codec.js'
import { compileType, keyCodec } from './types/compile-type.js'
import type { Bins } from '../plan/command.js'
import type { Value } from '../plan/value.js'

interface CompileOptions {
  /** Without it, relations stay as the constructor left them. */
  readonly relations?: RelationFactory
  /** `false` interprets; unless given, code is generated wherever the process allows it. */
  readonly generate?: boolean
  /** Bytes of the longest key. */
  readonly maxKeyBytes?: number
}

/** Compiles the codecs of all classes of a model, once. */
export function compileCodecs(model: Model, options: CompileOptions = {}): Codecs {
  const codecs = new CodecCompiler(model, options).compile()
  rememberCodecs(codecs)
  return codecs
}

class CodecCompiler {
  readonly #model: Model
  readonly #relations: RelationFactory | undefined
  readonly #maxKeyBytes: number | undefined
  #compiled: Codecs | undefined
  readonly #compileClass: (shape: ClassShape) => ClassFunctions
  readonly #parts = new Map<string, PartCodec>()

  constructor(model: Model, options: CompileOptions) {
    this.#model = model
    this.#relations = options.relations
    this.#maxKeyBytes = options.maxKeyBytes
    this.#compileClass = (options.generate ?? mayGenerate()) ? generateClass : interpretClass
  }

  compile(): Codecs {
    const entities = new Map([...this.#model.entities.values()].map((entity) => [entity.name, this.#entity(entity)]))
    for (const codec of entities.values()) {
      const { discriminator } = codec.model
      if (!discriminator) continue
      codec.setSubclasses(new Map(discriminator.subclasses.map(({ value, entity }) => [value, entities.get(entity)!])))
    }
    for (const name of this.#model.embeddables.keys()) this.#part(name)
    this.#compiled = new Codecs(this.#model, entities, this.#parts, this.#relations)
    return this.#compiled
  }

  #entity(entity: EntityModel): EntityCodec {
    const { discriminator } = entity
    const properties = entity.properties.flatMap((property) => this.#property(property))
    const shape: ClassShape = {
      class: entity.class,
      properties,
      constants: discriminator?.value === undefined ? [] : [[discriminator.bin, discriminator.value]],
      attach: this.#attach(entity.relations),
    }
    return new EntityCodec(entity, this.#key(entity), shape, this.#compileClass(shape))
  }

  readonly #codecOf = (entity: object): EntityCodec => this.#compiled!.of(entity)

  #key(owner: EntityModel | EmbeddableModel): EntityKey {
    return new EntityKey(owner, this.#model, {
      maxBytes: this.#maxKeyBytes,
      codecOf: this.#codecOf,
    })
  }

  #property(property: PropertyModel): readonly PropertyCodec[] {
    const { name, bin, type } = property
    if (type.kind === 'embedded' && type.shape === 'bins') return [this.#spread(name, type)]
    const isCompared = !STAMPS.has(property.role)
    const options = { name, bin, codec: this.#type(type), inline: inlineKind(type), isCompared }
    if (property.role === 'copy') return [new CopyProperty({ ...options, inline: 'other' })]
    if (property.role === 'countOf') return [new CountProperty({ ...options, inline: 'other' })]
    return [property.role === 'counter' ? new CounterProperty(options) : new BinProperty(options)]
  }

  #spread(name: string, type: Extract<BinType, { shape: 'bins' }>): SpreadProperty {
    const part = this.#model.embeddable(type.part)
    const fields = type.fields.map((field) =>
      field.type.kind === 'embedded' && field.type.shape === 'bins'
        ? this.#spread(field.name, field.type)
        : this.#field(field.name, field.bin, field.type, part.properties),
    )
    const shape: ClassShape = {
      class: part.class,
      properties: fields,
      constants: [],
      attach: this.#attach(part.relations),
    }
    return new SpreadProperty(name, part.class, fields, this.#compileClass(shape))
  }

  #field(name: string, bin: string, type: BinType, fields: readonly PropertyModel[]): BinProperty {
    const isCounter = fields.some((field) => field.name === name && field.role === 'counter')
    const options = { name, bin, codec: this.#type(type), inline: inlineKind(type), isCompared: true }
    return isCounter ? new CounterProperty(options) : new BinProperty(options)
  }

  #type(type: BinType): TypeCodec {
    return compileType(type, (name) => this.#part(name))
  }

  #part(name: string): PartCodec {
    const known = this.#parts.get(name)
    if (known) return known
    const model = this.#model.embeddable(name)
    const codec = new PartCodec(model, model.key && this.#key(model))
    // Known before its fields are: it may contain parts of its own class.
    this.#parts.set(name, codec)
    const refs = this.#refFields(model)
    const values = [
      ...model.properties.map((field) => this.#field(field.name, field.bin, field.type, model.properties)),
      ...refs,
    ]
    const children = childrenOf(model).map(
      (relation) => new ChildrenField(relation, this.#part(relation.target), this.#relations),
    )
    const fields = [...values, ...children]
    const shape: ClassShape = {
      class: model.class,
      properties: fields,
      constants: [],
      attach: this.#attach(
        refsOf(model),
        children,
        refs.filter((ref) => ref.target.several !== undefined),
      ),
    }
    codec.complete(fields, this.#compileClass(shape))
    return codec
  }

  #refFields(model: EmbeddableModel): readonly RefField[] {
    return refsOf(model).map((relation) => {
      const { name, bin, target } = relation
      if (bin === undefined)
        throw bug(`the ref ${model.name}.${name} has no place in its part.`, { className: model.name })
      const keyIn = (ref: RefLike): KeyValue | null => heldKey(ref, relation, this.#codecOf)
      const to = this.#model.entity(target)
      return new RefField({ name, bin }, to, keyCodec(to.key.kind), keyIn)
    })
  }

  /** `checked`: references whose stored keys must name a class before anybody follows them. */
  #attach(
    relations: readonly RelationModel[],
    children: readonly ChildrenField[] = [],
    checked: readonly RefField[] = [],
  ): ClassShape['attach'] {
    const make = this.#relations
    if (!make || relations.length + children.length === 0) return undefined
    return (instance, stored, loaded: Loaded, only) => {
      for (const field of checked) field.decode(stored, loaded)
      for (const relation of relations) {
        if (only && !only.has(relation.name)) continue
        const value = this.#keyOrMembers(relation, stored)
        writeProperty(instance, relation.name, make(instance, relation, value, !loaded || loaded.has(relation.name)))
      }
      for (const field of children) {
        const present = readProperty(instance, field.name)
        const holder = make(instance, field.relation, undefined, true) as Collection<object>
        writeProperty(instance, field.name, holder)
        // A collection that a session has is brought up to date by the part that tracks its members.
        if (holder !== present) holder.add(...field.childrenIn(stored))
      }
    }
  }

  #keyOrMembers({ bin, holds, target }: RelationModel, stored: Bins): Value | undefined {
    const value = bin === undefined ? undefined : (readProperty(stored, bin) as Value | undefined)
    // The client gives an integer as a number wherever it fits one.
    const isBigint = holds === 'ref' && typeof value === 'number' && this.#model.entity(target).key.kind === 'bigint'
    return isBigint ? BigInt(value) : value
  }
}

/** Properties that the mapper itself writes, together with other changes. */
const STAMPS: ReadonlySet<PropertyRole> = new Set(['version', 'createdAt', 'updatedAt', 'countOf', 'copy'])

function inlineKind(type: BinType): InlineKind {
  switch (type.kind) {
    case 'int':
    case 'double':
    case 'string':
    case 'boolean':
    case 'bigint':
    case 'date':
      return type.kind
    default:
      return 'single'
  }
}
