import type { Codecs } from '../codec/index.js'
import type { EntityModel, RelationModel } from '../model/index.js'
import { ConsolidateStrategy } from './strategies/consolidate/consolidate-strategy.js'
import { KeyBinStrategy } from './strategies/key-bin-strategy.js'
import { KeyListStrategy } from './strategies/key-list-strategy.js'
import { KeyPairStrategy } from './strategies/key-pair-strategy.js'
import { LinkListsStrategy } from './strategies/link-lists-strategy.js'
import { SecondaryIndexStrategy } from './strategies/secondary-index-strategy.js'
import { SharedKeyStrategy } from './strategies/shared-key-strategy.js'
import type { RelationStrategy } from './contract/relation-strategy.js'

/** A relation and what it stands between. */
interface Place {
  readonly relation: RelationModel
  readonly owner: EntityModel
  /** The class on the other side; only where that is stored as records. */
  readonly target: EntityModel
  /** The relation on the other side, when there is one. */
  readonly inverse: RelationModel | undefined
  readonly codecs: Codecs
}

/** The one place that knows which strategies there are. */
const STRATEGIES: { readonly [strategy: string]: ((place: Place) => RelationStrategy) | undefined } = {
  keyBin: ({ relation, owner, target, inverse }) =>
    inverse?.strategy === 'keyBin'
      ? new KeyPairStrategy(relation, owner, target, inverse)
      : new KeyBinStrategy(relation, owner, target, inverse),
  linkMap: ({ relation, owner, target, inverse, codecs }) =>
    new LinkListsStrategy(relation, owner, target, inverse, codecs.part(relation.attributes!)),
  sharedKey: ({ relation, owner, target, codecs }) =>
    new SharedKeyStrategy(relation, owner, target, codecs.entity(target.name).key),
  secondaryIndex: ({ relation, owner, target, inverse }) =>
    new SecondaryIndexStrategy(relation, owner, target, inverse!),
  keyList: ({ relation, owner, target, inverse }) =>
    relation.kind === 'manyToMany'
      ? new LinkListsStrategy(relation, owner, target, inverse)
      : new KeyListStrategy(relation, owner, target, inverse),
  consolidate: ({ relation, owner, codecs }) => new ConsolidateStrategy(relation, owner, codecs.part(relation.target)),
}

export function strategiesOf(owner: EntityModel, codecs: Codecs): readonly RelationStrategy[] {
  return owner.relations.flatMap((relation) => {
    const place: Place = {
      relation,
      owner,
      codecs,
      get target() {
        return codecs.model.entity(relation.target)
      },
      get inverse() {
        return this.target.relations.find(({ name }) => name === relation.inverse)
      },
    }
    return STRATEGIES[relation.strategy]?.(place) ?? []
  })
}
