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
  /** The place of the members, as far as the record says it: inside it, on its list, found by an index, under its own key, or named by a bin of it. Absent where it does not. */
  readonly members?: 'inside' | 'listed' | 'indexed' | 'underItsKey' | 'named'
}

const entity = { target: 'entity', inverse: 'optional', hasBin: true, canBeSharded: false } as const

/** Every strategy, by the decorator that can ask for it. The first one is the default. */
export const STRATEGIES: { readonly [D in RelationDecorator]: readonly StrategyRules[] } = {
  ManyToOne: [{ ...entity, strategy: 'keyBin', options: ['name', 'eager'], members: 'named' }],
  OneToOne: [
    {
      ...entity,
      strategy: 'keyBin',
      options: ['strategy', 'name', 'owner', 'eager', 'onDelete'],
      members: 'named',
    },
    {
      ...entity,
      strategy: 'sharedKey',
      options: ['strategy', 'owner', 'eager', 'onDelete'],
      hasBin: false,
      members: 'underItsKey',
    },
  ],
  OneToMany: [
    {
      ...entity,
      strategy: 'keyList',
      options: ['strategy', 'name', 'eager', 'onDelete', 'orphans', 'expect'],
      canBeSharded: true,
      members: 'listed',
    },
    {
      strategy: 'consolidate',
      options: ['strategy', 'name', 'eager', 'sortKey', 'sortKeyName', 'orders', 'cap', 'inverseIndex', 'expect'],
      hasBin: true,
      target: 'embeddable',
      inverse: 'none',
      canBeSharded: true,
      members: 'inside',
    },
    {
      ...entity,
      strategy: 'secondaryIndex',
      options: ['strategy', 'onDelete', 'orphans', 'indexName'],
      hasBin: false,
      inverse: 'required',
      members: 'indexed',
    },
  ],
  ManyToMany: [
    {
      ...entity,
      strategy: 'keyList',
      options: ['name', 'owner', 'eager', 'onDelete', 'attributes', 'expect'],
      canBeSharded: true,
      members: 'listed',
    },
    {
      ...entity,
      strategy: 'linkMap',
      options: ['name', 'owner', 'eager', 'onDelete', 'attributes', 'expect'],
      canBeSharded: true,
    },
  ],
}

const MEMBERS = new Map(
  Object.values(STRATEGIES)
    .flat()
    .map(({ strategy, members }) => [strategy, members]),
)

/** The place of the members of a relation, as its strategy says. */
export const membersOf = ({ strategy }: { readonly strategy: RelationStrategy }): StrategyRules['members'] =>
  MEMBERS.get(strategy)

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
