import type { Codecs } from '../codec/index.js'
import type { EntityClass, EntityModel, Model } from '../model/index.js'
import type { Contributor } from '../relations/contributor.js'
import { BinContributor } from './bin-contributor.js'
import { MappedClass } from './mapped-class.js'

/** Which relations of a class take part in loading and saving it. */
export type ContributorsOf = (entity: EntityModel, model: Model) => readonly Contributor[]

/** All classes of a database. */
export class MappedClasses {
  readonly model: Model
  readonly codecs: Codecs
  readonly #byName = new Map<string, MappedClass>()
  readonly #byPrototype = new Map<object, MappedClass>()

  constructor(codecs: Codecs, contributorsOf: ContributorsOf) {
    this.codecs = codecs
    this.model = codecs.model
    const places = new Map<string, number>()
    const related = relatedClasses(this.model)
    for (const entity of this.model.entities.values()) {
      const where = `${entity.namespace}|${entity.set}`
      if (!places.has(where)) places.set(where, places.size)
      const mapped = new MappedClass(codecs.entity(entity.name), places.get(where)!, !related.has(entity.name))
      mapped.contributors = [new BinContributor(mapped), ...contributorsOf(entity, this.model)]
      this.#byName.set(entity.name, mapped)
      this.#byPrototype.set(entity.class.prototype as object, mapped)
    }
    for (const mapped of this.#byName.values()) mapped.binsOfSet = this.#binsOfSet(mapped.place)
  }

  #binsOfSet(place: number): readonly string[] {
    const members = [...this.#byName.values()].filter((mapped) => mapped.place === place)
    const bins = members.flatMap(({ codec, model }) => codec.binsOf(model.properties.map(({ name }) => name)))
    return [...new Set(bins)]
  }

  /** Throws SKEIN_2001 for a class that is not part of the model. */
  of(classOrName: EntityClass | string): MappedClass {
    return this.#byName.get(this.model.entity(classOrName).name)!
  }

  ofEntity(entity: object): MappedClass {
    return this.#byPrototype.get(Object.getPrototypeOf(entity) as object) ?? this.of(this.codecs.of(entity).model.name)
  }
}

function relatedClasses(model: Model): ReadonlySet<string> {
  const related = new Set<string>()
  for (const entity of model.entities.values()) {
    for (const { target } of entity.relations) related.add(entity.name).add(target)
  }
  for (const part of model.embeddables.values()) for (const { target } of part.relations) related.add(target)
  return related
}
