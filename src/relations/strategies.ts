import type { EntityModel, Model, RelationModel } from '../model/index.js'
import { KeyBinStrategy } from './key-bin-strategy.js'
import { KeyListStrategy } from './key-list-strategy.js'
import { LinkListsStrategy } from './link-lists-strategy.js'
import type { RelationStrategy } from './strategy.js'

type Make = (
  relation: RelationModel,
  owner: EntityModel,
  target: EntityModel,
  inverse: RelationModel | undefined,
) => RelationStrategy

/** The one place that knows which strategies there are. */
const STRATEGIES: { readonly [strategy: string]: Make | undefined } = {
  keyBin: (relation, owner, target, inverse) =>
    new KeyBinStrategy(relation, owner, target, inverse?.strategy === 'keyList' ? inverse : undefined),
  keyList: (relation, owner, target, inverse) =>
    relation.kind === 'manyToMany'
      ? new LinkListsStrategy(relation, owner, target, inverse)
      : new KeyListStrategy(relation, owner, target, inverse),
}

export function strategiesOf(entity: EntityModel, model: Model): readonly RelationStrategy[] {
  return entity.relations.flatMap((relation) => {
    const make = STRATEGIES[relation.strategy]
    if (make === undefined) return []
    const target = model.entity(relation.target)
    return [
      make(
        relation,
        entity,
        target,
        target.relations.find(({ name }) => name === relation.inverse),
      ),
    ]
  })
}
