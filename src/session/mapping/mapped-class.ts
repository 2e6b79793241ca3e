import { hasRules, keyOfStoredRef, type Codecs, type EntityCodec, type Loaded } from '../../codec/index.js'
import type { KeyValue, Tenant } from '../../keys/index.js'
import {
  isShown,
  type DeletedMode,
  type EntityModel,
  type HookName,
  type HooksModel,
  type PropertyModel,
} from '../../model/index.js'
import { holds, whileOfClass, type Bins, type Guard } from '../../plan/command.js'
import { bin, eq, value } from '../../plan/expression.js'
import type { ReadOperation } from '../../plan/operation.js'
import { recordKey, type RecordKey } from '../../plan/record-key.js'
import type { Contributor } from '../../relations/contract/contributor.js'
import type { LinkVerification } from '../../relations/contract/link-verification.js'
import type { RelationStrategy } from '../../relations/contract/relation-strategy.js'
import type { CopyLinks } from '../copies/copy-links.js'
import type { CounterShards } from '../counters/counter-shards.js'

/** Properties of an entity that are wanted, and the bins that hold them. */
export interface Projection {
  /** Undefined: all. */
  readonly loaded: Loaded
  readonly bins: 'all' | readonly string[]
  /** Reads of the bins and of parts of others; absent where whole bins are read. */
  readonly operations?: readonly ReadOperation[]
  /** Deleted records that are shown; none unless given. */
  readonly deleted?: DeletedMode
}

/** A stored class with everything a session needs to work with its entities; made once for each database. */
export class MappedClass {
  readonly model: EntityModel
  readonly codec: EntityCodec
  readonly codecs: Codecs
  /** Number of the set: its classes share keys. */
  readonly place: number
  /** No relation leads here or away, nor to or from a subclass, so its deletes need not wait for anybody's references. */
  readonly standsAlone: boolean
  /** The bins first, then the relations. */
  contributors: readonly Contributor[] = []
  relations: readonly RelationStrategy[] = []
  /** Finds records of the class that a failed create left without the owner they were created for. */
  leftovers: readonly LinkVerification[] = []
  /** Bins that name the owner a record was created for. */
  noteBins: readonly string[] = []
  /** Classes that an entity of this class may have: itself and its subclasses. */
  kinds: readonly MappedClass[] = []
  #contributorsOfDelete: readonly Contributor[] | undefined
  /** Bins of the values of every class of the set. */
  binsOfSet: readonly string[] = []
  /** Projection of an ordinary load: all bins, unless there are lists of keys, which may be long and are read when asked for. */
  ordinary: Projection = { loaded: undefined, bins: 'all' }
  /** Embedded parts may point to entities that have to be looked at. */
  hasEmbeddedRefs = false
  /** Sharded counters of this class and its subclasses, whose values lie in companion records, too. */
  shards: CounterShards | undefined
  /** The class counts members of collections in bins of its own. */
  readonly hasCounts: boolean
  /** Copied properties of the database; undefined where there are none. */
  copies: CopyLinks | undefined
  /** The class has properties that are copied from other records. */
  readonly hasCopies: boolean
  /** The class has counts or copies, which Skein derives from other values. */
  readonly hasDerived: boolean
  /** The class has properties that Skein assigns, and no program. */
  readonly hasAssigned: boolean
  /** The class has rules of class-validator. */
  readonly hasRules: boolean
  /** Properties whose stored values never change. */
  readonly immutable: readonly PropertyModel[]
  /** Properties of an entity that was not read: nothing but its key is known, not even the version. */
  readonly keyAlone: ReadonlySet<string>
  #tenantRefs: ReadonlyMap<string, EntityModel> | undefined
  #isSimple: boolean | undefined
  #classGuards: readonly Guard[] | undefined
  #ownGuards: readonly Guard[] | undefined

  constructor(codec: EntityCodec, codecs: Codecs, place: number, standsAlone: boolean) {
    this.codec = codec
    this.codecs = codecs
    this.model = codec.model
    this.place = place
    this.standsAlone = standsAlone
    this.keyAlone = new Set(this.model.key.properties)
    this.hasCounts = this.model.properties.some(({ countOf }) => countOf !== undefined)
    this.hasCopies = this.model.properties.some(({ copy }) => copy !== undefined)
    this.hasDerived = this.hasCounts || this.hasCopies
    this.hasAssigned = this.hasDerived || this.model.version !== undefined
    this.hasRules = hasRules(this.model.class)
    this.immutable = this.model.properties.filter(({ immutable }) => immutable === true)
  }

  /** Saving or deleting an entity is one command and nothing else. */
  get isSimple(): boolean {
    return (this.#isSimple ??=
      this.standsAlone && this.contributors.length === 1 && !this.hasEmbeddedRefs && !hasHooks(this.model.hooks))
  }

  /** Contributors in the order of a delete: those that may refuse it come first. */
  get contributorsOfDelete(): readonly Contributor[] {
    const restricting = this.relations.filter(({ model }) => model.onDelete === 'restrict')
    return (this.#contributorsOfDelete ??= [...new Set([...restricting, ...this.contributors])])
  }

  /** Of a soft delete: what it takes along, and what may refuse it; links stay as they are. */
  get contributorsOfSoftDelete(): readonly Contributor[] {
    return this.contributorsOfDelete.filter((each) => {
      const model = this.relations.find((relation) => relation === each)?.model
      return model === undefined ? each === this.contributors[0] : model.onDelete !== 'detach'
    })
  }

  /** Sets of the companion records of its collections and of those of its subclasses, and of its history. */
  get companionSets(): readonly string[] {
    const sets = this.kinds.flatMap(({ model }) => model.relations.flatMap(({ companions }) => companions?.set ?? []))
    return [...new Set([...sets, ...(this.model.history === undefined ? [] : [this.model.history.set])])]
  }

  /** False where it is plain that there are no rules for the entity, its children and its link attributes. */
  mayBreakRules(entity: object): boolean {
    if (this.hasRules || Object.getPrototypeOf(entity) !== this.model.class.prototype) return true
    return this.relations.some(({ parts }) => parts !== undefined)
  }

  calls(hook: HookName): boolean {
    return this.model.hooks[hook].length > 0
  }

  /** Deleting by key is one blind command only where nobody needs to see the entity. */
  get needsEntityToDelete(): boolean {
    return this.kinds.some(
      ({ contributors, model }) =>
        contributors.length > 1 || hasDeleteHooks(model.hooks) || (model.deletedAt ?? model.history) !== undefined,
    )
  }

  /** Conditions that a record is of this class alone: another session may have stored one of another class in its place. */
  get ownGuards(): readonly Guard[] {
    return (this.#ownGuards ??= ownGuardsOf(this.model.discriminator))
  }

  /** Guards of a write to a record that was not read: another class of the set may have a record under the key. */
  get classGuards(): readonly Guard[] {
    return (this.#classGuards ??= whileOfClass(this.model))
  }

  /** Record key of a user key, given as the key itself or as its parts. */
  recordKeyOf(input: unknown, tenant: Tenant | undefined): RecordKey {
    const { scheme } = this.codec.key
    return this.recordKey(scheme.toKey(input, tenant), tenant)
  }

  recordKey(key: KeyValue, tenant: Tenant | undefined): RecordKey {
    const stored = this.codec.key.scheme.toStored(key, tenant)
    // Bytes may be changed by whoever gave them; the record stays where it is.
    const own = typeof stored === 'object' ? Buffer.from(stored) : stored
    return recordKey(this.model.namespace, this.model.set, own)
  }

  /** The key of a record that was found without it, made of the bins that hold its parts. */
  keyOfBins(bins: Bins, tenant: Tenant | undefined): KeyValue {
    return this.keyOfRead(this.codec.hydrate(bins, this.keyAlone), tenant)
  }

  /** Key of an entity as it was read: a reference of a tenant is stored with the tenant, which its part of the key lacks. */
  keyOfRead(entity: object, tenant: Tenant | undefined): KeyValue {
    const targets = (this.#tenantRefs ??= this.#findTenantRefs())
    if (targets.size === 0) return this.codec.key.keyOf(entity)
    return this.codec.key.keyOf(entity, (ref, key) => {
      const target = targets.get(ref)
      return target === undefined ? key : keyOfStoredRef(this.codecs, target, key, tenant)
    })
  }

  /** Classes that references in the key lead to, where those belong to tenants. */
  #findTenantRefs(): ReadonlyMap<string, EntityModel> {
    const { relations, key } = this.model
    const inKey = relations.filter(({ name }) => key.properties.includes(name))
    const targets = inKey.map(({ name, target }) => [name, this.codecs.model.entity(target)] as const)
    return new Map(targets.filter(([, target]) => target.key.tenant))
  }

  /** True where a call with that mode shows a record with these bins. */
  shows(bins: Bins, mode: DeletedMode | undefined): boolean {
    return (this.model.deletedAt ?? mode) === undefined || isShown(this.model, bins, mode)
  }

  binOf(property: string | undefined): string | undefined {
    return this.model.properties.find(({ name }) => name === property)?.bin
  }

  is(entity: object): boolean {
    return entity instanceof this.model.class
  }
}

function ownGuardsOf(discriminator: EntityModel['discriminator']): readonly Guard[] {
  if (discriminator?.value === undefined) return []
  const { bin: name, value: own } = discriminator
  return [holds(eq(bin(typeof own === 'string' ? 'str' : 'int', name), value(own)))]
}

const hasHooks = (hooks: HooksModel): boolean =>
  hooks.beforeSave.length > 0 || hooks.afterSave.length > 0 || hasDeleteHooks(hooks)

const hasDeleteHooks = ({ beforeDelete, afterDelete }: HooksModel): boolean =>
  beforeDelete.length > 0 || afterDelete.length > 0

/** Relations that lead to the records of one place. */
export interface LinksTo {
  /** The places of the classes that have them. */
  readonly holders: readonly number[]
  readonly relationsOf: ReadonlyMap<MappedClass, readonly RelationStrategy[]>
  /** True where one of them leads to several classes, and holds keys with their sets. */
  readonly areTagged: boolean
}
