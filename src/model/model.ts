import type { KeyModel } from './key-model.js'
import type { IndexModel, PartIndexModel, PropertyModel } from './property-model.js'
import type { RelationModel } from './relation-model.js'

/** Any class that can be mapped, abstract ones included. */
export type EntityClass<T extends object = object> = abstract new (...args: never[]) => T

/** Time that records live. `default` leaves it to the namespace. */
export interface TtlModel {
  readonly seconds: number | 'never' | 'default'
  /** Effect of a later write: it keeps the remaining time, or starts it again. */
  readonly onUpdate: 'keep' | 'refresh'
}

export const HOOK_NAMES = ['beforeSave', 'afterSave', 'afterLoad', 'beforeDelete', 'afterDelete'] as const
export type HookName = (typeof HOOK_NAMES)[number]
/** Names of the methods to call, base class first. */
export type HooksModel = { readonly [hook in HookName]: readonly string[] }

/** Discriminator: the bin that tells the classes of one set apart. */
export interface DiscriminatorModel {
  readonly bin: string
  /** The value of this class; undefined for an abstract base, which has no records of its own. */
  readonly value?: string | number
  /** Every value that may be loaded through this class, with the name of its EntityModel: itself and all its subclasses. */
  readonly subclasses: readonly { readonly value: string | number; readonly entity: string }[]
}

/** Earlier states of records, each in a record of another set under the same key. */
export interface HistoryModel {
  readonly keep: number
  readonly ttl: number | 'never' | 'default'
  readonly set: string
}

/** A class that is stored as records. */
export interface EntityModel {
  readonly kind: 'entity'
  readonly class: EntityClass
  /** Unique in the model; the class name unless given. */
  readonly name: string
  readonly namespace: string
  readonly set: string
  /** The namespace of records that are archived. */
  readonly archive?: string
  /** Set where this describes the archived records: `namespace` is where they are, and `archive` where they came from. */
  readonly isArchived?: true
  readonly ttl: TtlModel
  readonly sendKey: boolean
  /** Undefined: the driver decides from the namespace's capabilities. */
  readonly durableDelete?: boolean
  readonly key: KeyModel
  /** Name of the EntityModel this class extends, when that is mapped to the same set. */
  readonly base?: string
  readonly discriminator?: DiscriminatorModel
  /** Everything stored as a value, in declaration order, base class first. */
  readonly properties: readonly PropertyModel[]
  readonly relations: readonly RelationModel[]
  readonly indexes: readonly IndexModel[]
  readonly hooks: HooksModel
  /** Name of the property with the role `version`, when there is one. */
  readonly version?: string
  readonly createdAt?: string
  readonly updatedAt?: string
  /** A delete writes this property and leaves the record. */
  readonly deletedAt?: string
  /** Earlier states of the records are kept. */
  readonly history?: HistoryModel
  /** Properties that show the record's metadata; they are not bins. */
  readonly generationProperty?: string
  readonly ttlProperty?: string
  /** Set on what is not a class of its own, but stands for one of these. */
  readonly several?: readonly EntityModel[]
}

/** A class that is stored inside a record. */
export interface EmbeddableModel {
  readonly kind: 'embeddable'
  readonly class: EntityClass
  readonly name: string
  /** `bin` of each property is its key in the stored map. */
  readonly properties: readonly PropertyModel[]
  /** `'tuple'`: stored as a list of its fields in the order of their declaration; absent: as a map. */
  readonly layout?: 'tuple'
  /** Refs to records (`keyBin` only), and collections of its own consolidated children. */
  readonly relations: readonly RelationModel[]
  /** The property that says when a link with these attributes was ended. */
  readonly deletedAt?: string
  /** Present when parts have an id, which `consolidate` requires. */
  readonly key?: KeyModel
  /** Indexes on fields, for records that embed one such part. */
  readonly indexes: readonly PartIndexModel[]
  readonly hooks: HooksModel
}

/** All classes of a database, compiled and checked. Frozen plain data, but for its lookups. */
export interface Model {
  /** The namespace of entities that name none. */
  readonly namespace: string
  readonly entities: ReadonlyMap<string, EntityModel>
  readonly embeddables: ReadonlyMap<string, EmbeddableModel>
  /** The model of a class or of a name; throws SKEIN_2001 when it is not part of this model. */
  entity(classOrName: EntityClass | string): EntityModel
  embeddable(classOrName: EntityClass | string): EmbeddableModel
  /** The model as readable text. */
  describe(): string
}
