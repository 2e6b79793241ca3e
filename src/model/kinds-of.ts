import type { EntityModel } from './model.js'

/** The names of the classes that an entity asked for by this class may be of: itself and its subclasses in the same set. */
export function kindsOf({ name, discriminator }: EntityModel): readonly string[] {
  return [...new Set([name, ...(discriminator?.subclasses ?? []).map(({ entity }) => entity)])]
}
