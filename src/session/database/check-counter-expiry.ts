import type { Capabilities } from '../../driver/capabilities.js'
import { ModelError, type ModelProblem } from '../../errors/index.js'
import type { EntityModel, Model } from '../../model/index.js'

/** Refuses sharded counters in a namespace that lets records expire unless told otherwise: they would lose their companions one by one. */
export function checkCounterExpiry({ entities }: Model, { namespaces }: Capabilities): void {
  const expires = ({ namespace, ttl }: EntityModel): boolean =>
    ttl.seconds === 'default' && (namespaces[namespace]?.defaultTtl ?? 0) > 0
  const problems = [...entities.values()].filter(expires).flatMap(({ name: className, namespace, properties }) =>
    properties
      .filter(({ sharding }) => sharding !== undefined)
      .map(({ name, countOf }): ModelProblem => ({
        code: 'SKEIN_1051',
        className,
        property: name,
        message: `A sharded ${countOf === undefined ? 'counter' : 'count'} cannot expire, and the namespace '${namespace}' has a default-ttl.`,
        fix: `Declare the class to stay: @Record({ ttl: 'never' }).`,
      })),
  )
  if (problems.length > 0) throw new ModelError(problems)
}
