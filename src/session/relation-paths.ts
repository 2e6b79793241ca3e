import type { EntityModel, RelationModel } from '../model/index.js'
import type { MappedClass } from './mapped-class.js'
import type { MappedClasses } from './mapped-classes.js'
import { unknownRelation } from './session-errors.js'

/** 'listings.reviews' → listings: ['reviews'] */
export function byFirstStep(paths: readonly string[]): Map<string, string[]> {
  const branches = new Map<string, string[]>()
  for (const path of paths) {
    const [first, ...rest] = path.split('.')
    const branch = branches.get(first) ?? []
    branches.set(first, rest.length === 0 ? branch : [...branch, rest.join('.')])
  }
  return branches
}

/** Refuses a path that leads nowhere before anything is read, whether or not there is an entity to follow it from. */
export function checkPaths(mapped: MappedClass, paths: readonly string[], classes: MappedClasses): void {
  for (const [step, rest] of byFirstStep(paths)) {
    const relations = relationsThrough(mapped, step, classes)
    if (relations.length === 0) throw unknownRelation(mapped, step)
    for (const { strategy, target } of relations) {
      // What lies inside a part is for the strategy that stores it.
      if (strategy !== 'consolidate') checkPaths(classes.of(target), rest, classes)
    }
  }
}

/** The relation of that name, of the class or of those that extend it: which of them a record is, only reading tells. */
function relationsThrough({ model }: MappedClass, name: string, classes: MappedClasses): RelationModel[] {
  const subclasses = model.discriminator?.subclasses.map(({ entity }) => classes.of(entity).model) ?? []
  const family = new Set<EntityModel>([model, ...subclasses])
  return [...family].flatMap(({ relations }) => relations.filter((relation) => relation.name === name))
}
