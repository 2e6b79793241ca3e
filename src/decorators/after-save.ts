import type { HookMethod } from './hook-method.js'
import { noteHook } from './note.js'

/**
 * Calls the method after the entity was written. Methods of a base class run first.
 *
 * @example
 * @AfterSave() onAfterSave() { console.log(this) }
 */
export function AfterSave() {
  return <M extends HookMethod>(proto: object, method: string, _descriptor: TypedPropertyDescriptor<M>): void =>
    noteHook(proto, method, 'afterSave')
}
