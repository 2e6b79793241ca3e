import { cut, SkeinError } from '../errors/index.js'
import type { EmbeddableModel, EntityClass, EntityModel, Model } from '../model/index.js'
import type { EntityCodec } from './entity-codec.js'
import { classOf } from './own-property.js'
import type { PartCodec } from './part-codec.js'
import type { RelationFactory } from './relation-factory.js'

function plainObject(given: object): SkeinError {
  const names = cut(Object.keys(given).join(', '))
  return new SkeinError('SKEIN_2001', `A plain object { ${names} } is not an instance of a mapped class.`, {
    fix: 'Make one with new, session.create(Class, values) or fromPlain(Class, data); a copy by { ...entity } has lost its class. Where a key is meant, keysOf(Class).of(parts) makes it.',
  })
}

/** The codecs of all classes of a model. */
export class Codecs {
  readonly model: Model
  readonly #entities: ReadonlyMap<string, EntityCodec>
  readonly #parts: ReadonlyMap<string, PartCodec>
  readonly #byPrototype = new Map<object, EntityCodec>()

  /** Makes Ref and Collection; undefined where the model was compiled without. */
  readonly makeRelation: RelationFactory | undefined

  constructor(
    model: Model,
    entities: ReadonlyMap<string, EntityCodec>,
    parts: ReadonlyMap<string, PartCodec>,
    makeRelation: RelationFactory | undefined,
  ) {
    this.model = model
    this.makeRelation = makeRelation
    this.#entities = entities
    this.#parts = parts
    for (const codec of entities.values()) this.#byPrototype.set(codec.model.class.prototype as object, codec)
  }

  /** The codec of a class or of a name; throws SKEIN_2001 when it is not part of this model. */
  entity<T extends object>(classOrName: EntityClass<T> | string): EntityCodec<T> {
    return this.#entities.get(this.model.entity(classOrName).name) as unknown as EntityCodec<T>
  }

  part(classOrName: EntityClass | string): PartCodec {
    return this.#parts.get(this.model.embeddable(classOrName).name)!
  }

  /** The codec of an instance; a class that is not mapped itself is stored like the one it extends. */
  of<T extends object>(entity: T): EntityCodec<T> {
    const direct = this.#byPrototype.get(Object.getPrototypeOf(entity) as object)
    return (direct ?? this.#search(entity)) as unknown as EntityCodec<T>
  }

  /** The model of an entity's or a part's class. */
  modelOf(instance: object): EntityModel | EmbeddableModel {
    for (const part of this.model.embeddables.values()) if (instance instanceof part.class) return part
    return this.of(instance).model
  }

  #search(entity: object): EntityCodec {
    for (
      let proto = Object.getPrototypeOf(entity) as object | null;
      proto;
      proto = Object.getPrototypeOf(proto) as object | null
    ) {
      const codec = this.#byPrototype.get(proto)
      if (codec) return codec
    }
    const itsClass = classOf(entity)
    if (itsClass === Object) throw plainObject(entity)
    return this.entity(itsClass)
  }
}
