import { declarationOf } from '../model/declaration.js'
import type { EntityClass } from '../model/model.js'
import type { CalculatedIndexOptions, IndexOptions } from '../model/options.js'
import { decoratedClass, noteMember } from './note.js'

/**
 * Asks for a secondary index: on a property, on its value, the elements of a list, or the keys or values of a map; in an `@Embeddable`, on the field
 * in every record that embeds one; on a class, on a calculated value (server 8.1).
 *
 * @example
 * @Index() @Bin() city!: string
 */
export function Index(options: CalculatedIndexOptions): (target: EntityClass, context?: undefined) => void
export function Index(options?: IndexOptions): (proto: object, property: string) => void
export function Index(options: IndexOptions | CalculatedIndexOptions = {}) {
  return (target: object, property?: string): void => {
    if (typeof target !== 'function' || typeof property === 'string')
      return noteMember(target, property!, 'Index', options as IndexOptions)
    const declaration = declarationOf(decoratedClass(target, property, 'Index'))
    ;(declaration.indexes ??= []).push(options as CalculatedIndexOptions)
  }
}
