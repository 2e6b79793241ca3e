import type { EntityClass } from '../model/index.js'

/** A constructor that asks for arguments is not called: there are none to give. */
export const callsConstructor = (entityClass: EntityClass): boolean => entityClass.length === 0

/** A new instance: through the constructor where it takes no arguments, otherwise without it. */
export function instantiate(entityClass: EntityClass): object {
  if (callsConstructor(entityClass)) return new (entityClass as new () => object)()
  return Object.create(entityClass.prototype as object) as object
}
