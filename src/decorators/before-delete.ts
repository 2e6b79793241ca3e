import type { HookMethod } from './hook-method.js'
import { noteHook } from './note.js'

/**
 * Calls the method before the entity is deleted. Methods of a base class run first.
 *
 * @example
 * @BeforeDelete() onBeforeDelete() { console.log(this) }
 */
export function BeforeDelete() {
  return <M extends HookMethod>(proto: object, method: string, _descriptor: TypedPropertyDescriptor<M>): void =>
    noteHook(proto, method, 'beforeDelete')
}
