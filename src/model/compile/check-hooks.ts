import { HOOK_NAMES } from '../model.js'
import type { ClassNotes } from './class-notes.js'
import type { Problems } from './problems.js'

/** A hook is a method of the class: an arrow function in a property would be lost when the entity is made without its constructor. */
export function checkHooks(classes: readonly ClassNotes[], problems: Problems): void {
  for (const { name: className, class: target, hooks } of classes) {
    for (const property of new Set(HOOK_NAMES.flatMap((hook) => hooks[hook]))) {
      const value = Object.getOwnPropertyDescriptor(owner(target.prototype as object, property), property)
        ?.value as unknown
      if (typeof value === 'function') continue
      problems.add(
        'SKEIN_1039',
        { className, property },
        'A lifecycle hook is on something other than a method.',
        `Write it as a method: ${property}() { … }.`,
      )
    }
  }
}

function owner(proto: object, property: string): object {
  for (let p: object | null = proto; p !== null; p = Object.getPrototypeOf(p) as object | null) {
    if (Object.hasOwn(p, property)) return p
  }
  return proto
}
