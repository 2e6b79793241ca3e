import type { HookMethod } from './hook-method.js'
import { noteHook } from './note.js'

/**
 * Calls the method after the entity was deleted. Methods of a base class run first.
 *
 * @example
 * @AfterDelete() onAfterDelete() { console.log(this) }
 */
export function AfterDelete() {
  return <M extends HookMethod>(proto: object, method: string, _descriptor: TypedPropertyDescriptor<M>): void =>
    noteHook(proto, method, 'afterDelete')
}
