import { declarationOf } from '../model/declaration.js'
import type { EntityClass } from '../model/model.js'
import type { HistoryOptions } from '../model/options.js'
import { decoratedClass } from './note.js'

/**
 * Keeps what records of the class were before each change, in a record beside each of them. Needs a `@Version`.
 *
 * @example
 * @History({ keep: 20 })
 * @Record({ set: 'contract' })
 * class Contract { @Key() id!: string; @Bin() terms!: string; @Version() version?: number }
 */
export function History(options: HistoryOptions = {}) {
  return (target: EntityClass, context?: undefined): void => {
    declarationOf(decoratedClass(target, context, 'History')).history = options
  }
}
