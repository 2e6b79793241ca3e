import { shownClassOf, type EmbeddableModel, type EntityModel, type RelationModel } from '../../model/index.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { byFirstStep } from '../../relations/read/split-paths.js'
import { unknownPartRelation, unknownRelation } from '../context/session-errors.js'

/** Refuses a path that leads nowhere before anything is read, whether or not there is an entity to follow it from. */
export function checkPaths(mapped: MappedClass, paths: readonly string[], classes: MappedClasses): void {
  for (const [step, rest] of byFirstStep(paths)) {
    const relations = relationsThrough(mapped, step, classes)
    if (relations.length === 0) throw unknownRelation(mapped, step)
    for (const relation of relations) {
      const target = shownClassOf(relation)
      const part = classes.model.embeddables.get(target)
      if (part === undefined) checkAny(classes.severalOf(target), rest, classes)
      else checkPartPaths(part, rest, classes)
    }
  }
}

/** True where one of the paths leads to entities of such a class. */
export function leadTo(
  isSuch: (model: EntityModel) => boolean,
  mapped: MappedClass,
  paths: readonly string[],
  classes: MappedClasses,
): boolean {
  const leads = (relation: RelationModel, rest: readonly string[]): boolean => {
    const target = shownClassOf(relation)
    const part = classes.model.embeddables.get(target)
    if (part === undefined)
      return classes.severalOf(target).some((each) => isSuch(each.model) || leadTo(isSuch, each, rest, classes))
    return [...byFirstStep(rest)].some(([step, further]) =>
      part.relations.some((each) => each.name === step && leads(each, further)),
    )
  }
  return [...byFirstStep(paths)].some(([step, rest]) =>
    relationsThrough(mapped, step, classes).some((relation) => leads(relation, rest)),
  )
}

/** True where one of the paths, which are checked, leads to entities that may have been deleted softly. */
export const leadToDeletable = (mapped: MappedClass, paths: readonly string[], classes: MappedClasses): boolean =>
  leadTo(({ deletedAt }) => deletedAt !== undefined, mapped, paths, classes)

/** Checks that at least one of several classes knows each path; entities of the others are left as they are. */
function checkAny(several: readonly MappedClass[], paths: readonly string[], classes: MappedClasses): void {
  for (const [step, rest] of byFirstStep(paths)) {
    const knowing = several.filter((mapped) => relationsThrough(mapped, step, classes).length > 0)
    if (knowing.length === 0) throw unknownRelation(several[0], step)
    const path = rest.length === 0 ? [step] : rest.map((each) => `${step}.${each}`)
    for (const mapped of knowing) checkPaths(mapped, path, classes)
  }
}

/** A part has references to records, and children of its own, which are loaded with it. */
function checkPartPaths(part: EmbeddableModel, paths: readonly string[], classes: MappedClasses): void {
  for (const [step, rest] of byFirstStep(paths)) {
    const relation = part.relations.find(({ name }) => name === step)
    if (relation === undefined) throw unknownPartRelation(part, step)
    const below = classes.model.embeddables.get(relation.target)
    if (below === undefined) checkAny(classes.severalOf(relation.target), rest, classes)
    else checkPartPaths(below, rest, classes)
  }
}

/** The relation of that name, of the class or of those that extend it: which of them a record is, only reading tells. */
function relationsThrough({ model }: MappedClass, name: string, classes: MappedClasses): RelationModel[] {
  const subclasses = model.discriminator?.subclasses.map(({ entity }) => classes.of(entity).model) ?? []
  const family = new Set<EntityModel>([model, ...subclasses])
  return [...family].flatMap(({ relations }) => relations.filter((relation) => relation.name === name))
}
