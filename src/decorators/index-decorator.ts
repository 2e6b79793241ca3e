import type { IndexOptions } from '../model/options.js'
import { noteMember } from './note.js'

/**
 * Asks for a secondary index on a bin: on its value, on the elements of a list, or on the keys or values of a map.
 *
 * @example
 * @Index() @Bin() city!: string
 */
export function Index(options: IndexOptions = {}) {
  return (proto: object, property: string): void => noteMember(proto, property, 'Index', options)
}
