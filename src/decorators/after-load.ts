import type { HookMethod } from './hook-method.js'
import { noteHook } from './note.js'

/**
 * Calls the method after the entity was loaded and its properties are set. Methods of a base class run first.
 *
 * @example
 * @AfterLoad() onAfterLoad() { console.log(this) }
 */
export function AfterLoad() {
  return <M extends HookMethod>(proto: object, method: string, _descriptor: TypedPropertyDescriptor<M>): void =>
    noteHook(proto, method, 'afterLoad')
}
