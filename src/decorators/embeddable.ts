import { declarationOf } from '../model/declaration.js'
import type { EntityClass } from '../model/model.js'
import type { EmbeddableOptions } from '../model/options.js'
import { decoratedClass } from './note.js'

/**
 * Maps a class that is stored inside the records of others: by `@Embedded`, or as the children of a consolidated `@OneToMany`.
 *
 * @example
 * @Embeddable()
 * class Address { @Bin() city!: string }
 */
export function Embeddable(options: EmbeddableOptions = {}) {
  return (target: EntityClass, context?: undefined): void => {
    declarationOf(decoratedClass(target, context, 'Embeddable')).embeddable = options
  }
}
