import { SkeinError, type EmbeddableModel, type EntityModel, type Model } from 'skein'
import type { BinType, EntityClass, PropertyModel, RelationModel } from '#src/model/index.js'

export const HOOKS = { beforeSave: [], afterSave: [], afterLoad: [], beforeDelete: [], afterDelete: [] } as const

export type PropertySpec = Partial<PropertyModel> & { readonly type: BinType }

export const properties = (specs: Readonly<Record<string, PropertySpec>>): readonly PropertyModel[] =>
  Object.keys(specs).map((name, index) => ({ name, bin: name, role: 'plain', index, ...specs[name] }))

/** A frozen entity model, without decorators: codecs need nothing else. */
export function entityOf(
  entityClass: EntityClass,
  specs: Readonly<Record<string, PropertySpec>>,
  more: Partial<EntityModel> = {},
): EntityModel {
  const keyName = Object.keys(specs).find((name) => specs[name]?.role === 'key') ?? Object.keys(specs)[0]
  const kind = specs[keyName]?.type.kind === 'string' ? 'string' : 'int'
  return {
    kind: 'entity',
    class: entityClass,
    name: entityClass.name,
    namespace: 'test',
    set: entityClass.name.toLowerCase(),
    ttl: { seconds: 'default', onUpdate: 'keep' },
    sendKey: false,
    key: { kind, storedKind: kind, properties: [keyName], tenant: false },
    properties: properties(specs),
    relations: [],
    indexes: [],
    hooks: HOOKS,
    ...more,
  }
}

export function partOf(
  partClass: EntityClass,
  specs: Readonly<Record<string, PropertySpec>>,
  relations: readonly RelationModel[] = [],
): EmbeddableModel {
  return {
    kind: 'embeddable',
    class: partClass,
    name: partClass.name,
    properties: properties(specs),
    relations,
    indexes: [],
    hooks: HOOKS,
  }
}

export function modelOf(entities: readonly EntityModel[], parts: readonly EmbeddableModel[] = []): Model {
  const find = <T extends { readonly class: EntityClass; readonly name: string }>(
    models: readonly T[],
    wanted: EntityClass | string,
  ): T => {
    const found = models.find((model) => model.name === wanted || model.class === wanted)
    if (found) return found
    throw new SkeinError(
      'SKEIN_2001',
      `${typeof wanted === 'string' ? wanted : wanted.name} is not part of this model.`,
    )
  }
  return {
    namespace: 'test',
    entities: new Map(entities.map((entity) => [entity.name, entity])),
    embeddables: new Map(parts.map((part) => [part.name, part])),
    entity: (wanted) => find(entities, wanted),
    embeddable: (wanted) => find(parts, wanted),
    describe: () => '',
  }
}
