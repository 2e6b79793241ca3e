import { ModelError, type ModelProblem } from '../../errors/index.js'
import { STORED_KEYS, type EntityModel, type Model, type RelationModel } from '../../model/index.js'

/** Refuses what `@Sharded` and `@Companion` cannot do yet: members would be lost. */
export function refuseSharding({ entities }: Model): void {
  const problems = [...entities.values()].flatMap(shardedIn)
  if (problems.length > 0) throw new ModelError(problems)
}

function shardedIn({ name: className, relations }: EntityModel): ModelProblem[] {
  return relations.flatMap((relation) => unbuilt(className, relation))
}

function unbuilt(
  className: string,
  { name, companions, sharding, strategy, inverseIndexes = [] }: RelationModel,
): ModelProblem[] {
  if (companions === undefined) return []
  const decorator = sharding === undefined ? '@Companion' : '@Sharded'
  if (inverseIndexes.length > 0)
    return [notBuilt(className, name, `${decorator} is not built yet for an inverseIndex.`, 'Leave one of them out.')]
  if (STORED_KEYS[strategy] === undefined && strategy !== 'consolidate') {
    const message = `${decorator} is not built yet for collections stored as '${strategy}'.`
    const fix =
      "Leave it out, or store the members as 'keyList', 'secondaryIndex', or as records of one day or month each."
    return [notBuilt(className, name, message, fix)]
  }
  return []
}

function notBuilt(className: string, property: string, message: string, fix: string): ModelProblem {
  return { code: 'SKEIN_1055', className, property, message, fix }
}
