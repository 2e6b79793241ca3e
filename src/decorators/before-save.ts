import type { HookMethod } from './hook-method.js'
import { noteHook } from './note.js'

/**
 * Calls the method before the entity is written, before validation. Methods of a base class run first.
 *
 * @example
 * @BeforeSave() onBeforeSave() { console.log(this) }
 */
export function BeforeSave() {
  return <M extends HookMethod>(proto: object, method: string, _descriptor: TypedPropertyDescriptor<M>): void =>
    noteHook(proto, method, 'beforeSave')
}
