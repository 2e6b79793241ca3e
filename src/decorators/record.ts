import { declarationOf } from '../model/declaration.js'
import type { EntityClass } from '../model/model.js'
import type { RecordOptions } from '../model/options.js'
import { decoratedClass } from './note.js'

/**
 * Maps a class to the records of a set.
 *
 * @example
 * @Record({ set: 'agent', ttl: 3600 })
 * class Agent { @Key() id!: number }
 */
export function Record(options: RecordOptions = {}) {
  return (target: EntityClass, context?: undefined): void => {
    declarationOf(decoratedClass(target, context, 'Record')).record = options
  }
}
