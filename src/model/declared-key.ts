import type { KeyValue } from '../keys/index.js'
import { findDeclaration } from './declaration.js'
import type { EntityClass } from './model.js'

/** The value of an entity's `@Key` property, read from its class alone; null while it has none, or when the key is a template. */
export function declaredKey(entity: object): KeyValue | null {
  for (let proto = parentOf(entity); proto !== null; proto = parentOf(proto)) {
    const declaration = findDeclaration(proto.constructor as EntityClass)
    if ((declaration?.record?.key ?? declaration?.embeddable?.key) !== undefined) return null
    const note = declaration?.members.find((member) => member.decorator === 'Key')
    if (note) return (entity as { readonly [property: string]: KeyValue | null | undefined })[note.property] ?? null
  }
  return null
}

function parentOf(value: object): object | null {
  return Object.getPrototypeOf(value) as object | null
}
