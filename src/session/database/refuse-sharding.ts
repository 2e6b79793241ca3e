import { ModelError, type ModelProblem } from '../../errors/index.js'
import type { EntityModel, Model } from '../../model/index.js'

/** Refuses `@Sharded` on collections, which nothing stores or reads yet. */
export function refuseSharding({ entities }: Model): void {
  const problems = [...entities.values()].flatMap(shardedIn)
  if (problems.length > 0) throw new ModelError(problems)
}

function shardedIn({ name: className, relations }: EntityModel): ModelProblem[] {
  return relations
    .filter(({ sharding }) => sharding !== undefined)
    .map(({ name }) => ({
      code: 'SKEIN_1055',
      className,
      property: name,
      message: '@Sharded is not built yet for collections.',
      fix: "Leave it out. A collection that grows is stored as 'secondaryIndex', or as records of one day or month each.",
    }))
}
