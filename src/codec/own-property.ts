import type { EntityClass } from '../model/index.js'

/** Reads a property that may share its name with one of Object.prototype (`constructor`, `__proto__`): only the object's own counts. */
export function ownProperty(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined
}

/** Sets an own property whatever its name is: a plain assignment to `__proto__` would replace the prototype. */
export function defineProperty(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}

/** Names that plain reads and writes would find on Object.prototype. */
export const isInherited = (name: string): boolean => name in Object.prototype

export function readProperty(object: object, name: string): unknown {
  return isInherited(name) ? ownProperty(object, name) : (object as Record<string, unknown>)[name]
}

export function writeProperty(object: object, name: string, value: unknown): void {
  if (name === '__proto__') defineProperty(object, name, value)
  else (object as Record<string, unknown>)[name] = value
}

/** The class of an instance, even where that has a property called `constructor` of its own. */
export function classOf(entity: object): EntityClass {
  return (Object.getPrototypeOf(entity) as { readonly constructor: EntityClass } | null)?.constructor ?? Object
}
