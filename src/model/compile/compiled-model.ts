import { cut, shown, SkeinError } from '../../errors/index.js'
import type { EmbeddableModel, EntityClass, EntityModel, Model } from '../model.js'
import { describeModel } from '../describe/describe-model.js'
import { severalModel } from '../several.js'
import { didYouMean } from './nearest.js'

export class CompiledModel implements Model {
  readonly namespace: string
  readonly entities: ReadonlyMap<string, EntityModel>
  readonly embeddables: ReadonlyMap<string, EmbeddableModel>
  readonly #byClass = new Map<unknown, EntityModel | EmbeddableModel>()
  /** Stand-ins for one of several classes, by name. */
  readonly #several = new Map<string, EntityModel>()

  constructor(
    namespace: string,
    entities: ReadonlyMap<string, EntityModel>,
    embeddables: ReadonlyMap<string, EmbeddableModel>,
  ) {
    this.namespace = namespace
    this.entities = entities
    this.embeddables = embeddables
    for (const model of [...entities.values(), ...embeddables.values()]) this.#byClass.set(model.class, model)
    for (const { relations } of [...entities.values(), ...embeddables.values()])
      for (const { target, several } of relations)
        if (several !== undefined)
          this.#several.set(target, Object.freeze(severalModel(several.map((name) => entities.get(name)!))))
    Object.freeze(this)
  }

  entity(classOrName: EntityClass | string): EntityModel {
    const model =
      typeof classOrName === 'string'
        ? (this.entities.get(classOrName) ?? this.#several.get(classOrName))
        : this.#byClass.get(classOrName)
    if (model?.kind === 'entity') return model
    throw unknownClass(classOrName, this.entities.keys(), model ? 'is a part, not a record' : undefined)
  }

  embeddable(classOrName: EntityClass | string): EmbeddableModel {
    const model = typeof classOrName === 'string' ? this.embeddables.get(classOrName) : this.#byClass.get(classOrName)
    if (model?.kind === 'embeddable') return model
    throw unknownClass(classOrName, this.embeddables.keys(), model ? 'is a record, not a part' : undefined)
  }

  describe(): string {
    return describeModel(this)
  }
}

function unknownClass(
  classOrName: EntityClass | string | undefined,
  names: Iterable<string>,
  why = 'is not part of this model',
): SkeinError {
  const isText = typeof classOrName === 'string'
  const name = isText ? cut(classOrName) : (typeof classOrName === 'function' && classOrName.name) || undefined
  if (name === undefined)
    return new SkeinError('SKEIN_2001', `${shown(classOrName)} is not a class of this model.`, {
      fix: 'Give one class that is among the entities given to open().',
    })
  return new SkeinError('SKEIN_2001', `${name} ${why}.`, {
    className: name,
    fix: `${didYouMean(name, names)}Add the class to the entities given to open().`,
  })
}
