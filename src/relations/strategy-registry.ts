import type { Codecs } from '../codec/index.js'
import type { EntityModel, RelationModel } from '../model/index.js'
import type { LinkClass } from './contract/link-class.js'
import { CompanionPartsStrategy } from './strategies/companion-parts/companion-parts-strategy.js'
import { ConsolidateStrategy } from './strategies/consolidate/consolidate-strategy.js'
import { GrowingPartsStrategy } from './strategies/growing-parts/growing-parts-strategy.js'
import { KeyBinStrategy } from './strategies/key-bin/key-bin-strategy.js'
import { KeyListStrategy } from './strategies/key-list-strategy.js'
import { KeyPairStrategy } from './strategies/key-pair/key-pair-strategy.js'
import { LinkIndexStrategy, LinkListStrategy } from './strategies/link-records.js'
import { LinkListsStrategy } from './strategies/link-lists/link-lists-strategy.js'
import { SecondaryIndexStrategy } from './strategies/secondary-index-strategy.js'
import { SharedKeyStrategy } from './strategies/shared-key-strategy.js'
import type { RelationStrategy } from './contract/relation-strategy.js'

/** A relation and what it stands between. */
interface Place {
  readonly relation: RelationModel
  readonly owner: EntityModel
  /** The owner, or the several classes that a reference on the other side leads to one of. */
  readonly owners: EntityModel
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
  linkMap: ({ relation, owner, owners, target, inverse, codecs }) =>
    new LinkListsStrategy(relation, owner, target, inverse, owners, codecs.part(relation.attributes!)),
  sharedKey: ({ relation, owner, target, codecs }) =>
    new SharedKeyStrategy(relation, owner, target, codecs.entity(target.name).key),
  secondaryIndex: ({ relation, owner, owners, target, inverse, codecs }) =>
    relation.through === undefined
      ? new SecondaryIndexStrategy(relation, owner, target, inverse!, owners)
      : new LinkIndexStrategy(relation, owner, target, inverse!, linksOf(relation, owners, target, codecs)),
  keyList: ({ relation, owner, owners, target, inverse, codecs }) => {
    if (relation.kind === 'manyToMany') return new LinkListsStrategy(relation, owner, target, inverse, owners)
    if (relation.through === undefined) return new KeyListStrategy(relation, owner, target, inverse, owners)
    return new LinkListStrategy(relation, owner, target, inverse!, linksOf(relation, owners, target, codecs))
  },
  consolidate: ({ relation, owner, codecs }) => {
    const { companions } = relation
    const Apart = companions?.when === undefined ? CompanionPartsStrategy : GrowingPartsStrategy
    const Strategy = companions === undefined ? ConsolidateStrategy : Apart
    return new Strategy(relation, owner, codecs.part(relation.target))
  },
}

function linksOf(
  { inverse, through }: RelationModel,
  owners: EntityModel,
  model: EntityModel,
  codecs: Codecs,
): LinkClass {
  const { target, ref: far } = through!
  const farCollection = model.relations.find(({ name }) => name === far)!.inverse
  return { model, near: inverse!, owners, far, target: codecs.model.entity(target), farCollection }
}

export function strategiesOf(owner: EntityModel, codecs: Codecs): readonly RelationStrategy[] {
  return owner.relations.flatMap((relation) => {
    const place: Place = {
      relation,
      owner,
      owners: relation.knownAs === undefined ? owner : codecs.model.entity(relation.knownAs),
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
