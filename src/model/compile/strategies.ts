import type { MemberDecorator } from '../declaration.js'
import type { RelationKind, RelationStrategy } from '../relation-model.js'

export type RelationDecorator = Extract<MemberDecorator, 'OneToOne' | 'OneToMany' | 'ManyToOne' | 'ManyToMany'>

/** Rules that a strategy sets for the model. */
export interface StrategyRules {
  readonly strategy: RelationStrategy
  readonly options: readonly string[]
  /** True when this side has a bin of its own. */
  readonly hasBin: boolean
  /** Kind of the other side: a record, or a part inside this one. */
  readonly target: 'entity' | 'embeddable'
  readonly inverse: 'optional' | 'required' | 'none'
  readonly canBeSharded: boolean
}

const entity = { target: 'entity', inverse: 'optional', hasBin: true, canBeSharded: false } as const

/** Every strategy, by the decorator that can ask for it. The first one is the default. */
export const STRATEGIES: { readonly [D in RelationDecorator]: readonly StrategyRules[] } = {
  ManyToOne: [{ ...entity, strategy: 'keyBin', options: ['name', 'eager'] }],
  OneToOne: [
    { ...entity, strategy: 'keyBin', options: ['strategy', 'name', 'owner', 'eager', 'onDelete'] },
    { ...entity, strategy: 'sharedKey', options: ['strategy', 'owner', 'eager', 'onDelete'], hasBin: false },
  ],
  OneToMany: [
    {
      ...entity,
      strategy: 'keyList',
      options: ['strategy', 'name', 'eager', 'onDelete', 'orphans', 'expect'],
      canBeSharded: true,
    },
    {
      strategy: 'consolidate',
      options: ['strategy', 'name', 'eager', 'sortKey', 'sortKeyName', 'orders', 'cap', 'inverseIndex', 'expect'],
      hasBin: true,
      target: 'embeddable',
      inverse: 'none',
      canBeSharded: true,
    },
    {
      ...entity,
      strategy: 'secondaryIndex',
      options: ['strategy', 'onDelete', 'orphans', 'indexName'],
      hasBin: false,
      inverse: 'required',
    },
  ],
  ManyToMany: [
    {
      ...entity,
      strategy: 'keyList',
      options: ['name', 'owner', 'eager', 'onDelete', 'attributes', 'expect'],
      canBeSharded: true,
    },
    {
      ...entity,
      strategy: 'linkMap',
      options: ['name', 'owner', 'eager', 'onDelete', 'attributes', 'expect'],
      canBeSharded: true,
    },
  ],
}

interface RelationShape {
  readonly kind: RelationKind
  readonly holds: 'ref' | 'collection'
  /** The decorator that must stand on the other side. */
  readonly inverse: RelationDecorator
}

export const RELATIONS: { readonly [D in RelationDecorator]: RelationShape } = {
  OneToOne: { kind: 'oneToOne', holds: 'ref', inverse: 'OneToOne' },
  OneToMany: { kind: 'oneToMany', holds: 'collection', inverse: 'ManyToOne' },
  ManyToOne: { kind: 'manyToOne', holds: 'ref', inverse: 'OneToMany' },
  ManyToMany: { kind: 'manyToMany', holds: 'collection', inverse: 'ManyToMany' },
}

export function isRelationDecorator(decorator: MemberDecorator): decorator is RelationDecorator {
  return decorator in RELATIONS
}
