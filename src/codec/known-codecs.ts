import { SkeinError } from '../errors/index.js'
import type { EntityClass } from '../model/index.js'
import type { Codecs } from './codecs.js'

// toPlain and fromPlain are plain functions: they find the codecs of a class here, those of the model compiled last.
const known = new WeakMap<object, Codecs>()

export function rememberCodecs(codecs: Codecs): void {
  for (const { class: entityClass } of codecs.model.entities.values()) known.set(entityClass, codecs)
  for (const { class: partClass } of codecs.model.embeddables.values()) known.set(partClass, codecs)
}

/** The codecs that know the class, or a class it extends. */
export function codecsOf(entityClass: EntityClass): Codecs {
  for (let each: object | null = entityClass; each; each = Object.getPrototypeOf(each) as object | null) {
    const codecs = known.get(each)
    if (codecs) return codecs
  }
  throw new SkeinError('SKEIN_2001', `${entityClass.name} is not a class of any model.`, {
    className: entityClass.name,
    fix: 'Give it to the entities of open() first.',
  })
}
