import { CompiledModel, type EntityModel, type Model } from '../../model/index.js'

/** The model of what is archived: classes with an archive have their records there, and what they were taken from as their archive. */
export function archivedModel({ namespace, entities, embeddables }: Model): Model {
  const swapped = [...entities].map(([name, entity]): [string, EntityModel] => [
    name,
    entity.archive === undefined
      ? entity
      : { ...entity, namespace: entity.archive, archive: entity.namespace, isArchived: true },
  ])
  return new CompiledModel(namespace, new Map(swapped), embeddables)
}
