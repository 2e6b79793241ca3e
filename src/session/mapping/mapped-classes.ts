import type { Codecs } from '../../codec/index.js'
import type { Driver } from '../../driver/driver.js'
import {
  archivedAlong,
  hasIndexedMembers,
  DELETING_BIN,
  MADE_BIN,
  childrenOf,
  kindsOf,
  refsOf,
  targetsOf,
  type EntityClass,
  type EntityModel,
  type Model,
  type RelationModel,
} from '../../model/index.js'
import { resultName } from '../../plan/effects.js'
import { fieldsOf } from '../../query/fields-of.js'
import { usableIndexes, type UsableIndex } from '../../query/usable-indexes.js'
import { IndexStatisticsCache } from '../../query/index-statistics.js'
import { membersApart } from '../../relations/attach.js'
import { targetDeletions } from '../../relations/strategies/consolidate/target-deletion.js'
import type { RelationStrategy } from '../../relations/contract/relation-strategy.js'
import { ArchiveContributor } from '../archive/archive-contributor.js'
import { hasCompanions } from '../archive/moved-companions.js'
import { CopyContributor } from '../copies/copy-contributor.js'
import { CopyLinks } from '../copies/copy-links.js'
import { CounterContributor } from '../counters/counter-contributor.js'
import { CounterShards } from '../counters/counter-shards.js'
import { StoredCounts } from '../../relations/write/stored-counts.js'
import { RecordContributor } from '../flush/plan/record-contributor.js'
import { EmbeddedRefs } from '../flush/plan/check-embedded-refs.js'
import { MappedClass, type LinksTo } from './mapped-class.js'

/** Tells which relations of a class take part in loading and saving it. */
export type RelationsOf = (entity: EntityModel, codecs: Codecs) => readonly RelationStrategy[]

/** All classes of a database. */
export class MappedClasses {
  readonly model: Model
  readonly codecs: Codecs
  /** Counts of collections that go with every change of those; undefined where no class has any. */
  readonly counts: StoredCounts | undefined
  /** Copied properties; undefined where no class has any. */
  readonly copies: CopyLinks | undefined
  /** True when records of a class may be archived. */
  readonly hasArchives: boolean
  /** An empty place for each set that they live in, for sessions to copy: classes of one set share a place. */
  readonly places: readonly undefined[]
  /** True when a class has hooks. */
  readonly hasHooks: boolean
  /** True when a relation is eager: it is loaded even when not named. */
  readonly hasEager: boolean
  readonly #byName = new Map<string, MappedClass>()
  readonly #linksTo = new Map<number, LinksTo>()
  #statistics: IndexStatisticsCache | undefined
  readonly #byPrototype = new Map<object, MappedClass>()
  readonly #byClass = new Map<EntityClass | string, MappedClass>()

  readonly #toArchived: (() => MappedClasses) | undefined
  #archived: MappedClasses | undefined

  constructor(codecs: Codecs, relationsOf: RelationsOf, toArchived?: () => MappedClasses) {
    this.codecs = codecs
    this.#toArchived = toArchived
    this.model = codecs.model
    this.counts = StoredCounts.of(this.model)
    this.copies = CopyLinks.of(this.model, codecs)
    this.hasArchives = [...this.model.entities.values()].some(({ archive }) => archive !== undefined)
    this.hasHooks = [...this.model.entities.values()].some(({ hooks }) => Object.values(hooks).some(isCalled))
    const places = new Map<string, number>()
    const related = relatedClasses(this.model)
    for (const entity of this.model.entities.values()) {
      const where = `${entity.namespace}|${entity.set}`
      if (!places.has(where)) places.set(where, places.size)
      const mapped = new MappedClass(codecs.entity(entity.name), codecs, places.get(where)!, !related.has(entity.name))
      mapped.relations = relationsOf(entity, codecs)
      mapped.copies = this.copies
      const refs = new EmbeddedRefs(entity, this.model)
      mapped.hasEmbeddedRefs = !refs.isEmpty
      const bins = new RecordContributor(mapped, refs.isEmpty ? undefined : refs)
      const shards = CounterShards.of([entity])
      const counters = shards === undefined ? [] : [new CounterContributor(shards)]
      const links = mapped.hasCopies ? (this.copies?.heldIn(entity) ?? []) : []
      const copies = links.length === 0 ? [] : [new CopyContributor(links, this.copies!)]
      const takesAlong =
        hasCompanions(entity) ||
        hasIndexedMembers(entity, this.model.entities) ||
        mapped.relations.some(
          (strategy) => strategy.listed !== undefined && archivedAlong(entity, strategy.model, this.model.entities),
        )
      const archive = entity.archive === undefined ? [] : [new ArchiveContributor(this, takesAlong)]
      mapped.contributors = [
        bins,
        ...counters,
        ...copies,
        ...archive,
        ...mapped.relations,
        ...targetDeletions(entity, this.model),
      ]
      this.#byName.set(entity.name, mapped)
      this.#byPrototype.set(entity.class.prototype as object, mapped)
      this.#byClass.set(entity.class, mapped)
      this.#byClass.set(entity.name, mapped)
    }
    this.places = new Array<undefined>(places.size).fill(undefined)
    for (const mapped of this.#byName.values()) {
      mapped.kinds = kindsOf(mapped.model).map((name) => this.#byName.get(name)!)
      mapped.shards = CounterShards.of(mapped.kinds.map(({ model }) => model))
    }
    for (const { relations } of this.#byName.values()) for (const relation of relations) this.#noteLeftovers(relation)
    for (const mapped of this.#byName.values()) this.#completeSet(mapped)
    this.hasEager = [...this.#byName.values()].some(({ relations }) =>
      relations.some(({ model, isInRecord }) => model.eager && !isInRecord),
    )
  }

  /** Classes as their archived records are stored. */
  get archived(): MappedClasses {
    return (this.#archived ??= this.#toArchived!())
  }

  /** Notes the relation at the classes that it leads to; subclasses that inherit it store the same. */
  #noteLeftovers({ model, leftovers }: RelationStrategy): void {
    if (leftovers === undefined) return
    const bin = resultName(leftovers.readKeys(1))!
    for (const mapped of targetsOf(model).flatMap((name) => this.#byName.get(name)!.kinds)) {
      if (mapped.noteBins.includes(bin)) continue
      mapped.noteBins = [...mapped.noteBins, bin]
      mapped.leftovers = [...mapped.leftovers, leftovers]
    }
  }

  #completeSet(mapped: MappedClass): void {
    const members = [...this.#byName.values()].filter(({ place }) => place === mapped.place)
    const bins = members.flatMap(({ codec, model }) => codec.binsOf(model.properties.map(({ name }) => name)))
    mapped.binsOfSet = [...new Set(bins)]
    const relations = members.flatMap((member) => member.relations)
    if (!relations.some((relation) => isAside(relation) || (relation.quietBins ?? []).length > 0)) return
    const related = relations.filter((relation) => !isAside(relation)).flatMap((relation) => relation.bins)
    const notes = members.flatMap(({ noteBins }) => noteBins)
    // Lists of buckets may be long, and are read with what they list.
    const schemes = relations.map(membersApart).flatMap((apart) => (apart?.growing ? apart.schemeBins : []))
    const made = mapped.model.history === undefined ? [] : [MADE_BIN]
    mapped.ordinary = {
      loaded: undefined,
      bins: [...new Set([...mapped.binsOfSet, ...related, ...schemes, DELETING_BIN, ...made, ...notes])],
    }
  }

  /** Statistics of the server on the indexes; made by the first query. */
  statisticsOf(driver: Driver): IndexStatisticsCache {
    return (this.#statistics ??= new IndexStatisticsCache(driver))
  }

  /** The indexes of a class, with the expressions of calculated ones. */
  indexesOf(entity: EntityModel): readonly UsableIndex[] {
    // No value is compared, so no key is encoded.
    return usableIndexes(entity, () => fieldsOf(entity, this.codecs, () => null))
  }

  /** The relations of entities, and of the parts stored with them, that lead to a place. */
  linksTo(place: number): LinksTo {
    const known = this.#linksTo.get(place)
    if (known !== undefined) return known
    const isThere = (name: string): boolean => this.#byName.get(name)?.place === place
    const leadsThere = ({ model }: RelationStrategy): boolean =>
      [...targetsOf(model), ...this.#farEndsOf(model), ...this.#refsInside(model).flatMap(targetsOf)].some(isThere)
    const relationsOf = new Map<MappedClass, readonly RelationStrategy[]>()
    for (const mapped of this.#byName.values()) {
      const relations = mapped.relations.filter(leadsThere)
      if (relations.length > 0) relationsOf.set(mapped, relations)
    }
    const areTagged = [...relationsOf.values()]
      .flatMap((all) => all.flatMap(({ model }) => [model, ...this.#refsInside(model)]))
      .some(({ several }) => several !== undefined)
    const links = {
      relationsOf,
      areTagged,
      holders: [...new Set([...relationsOf.keys()].map((mapped) => mapped.place))],
    }
    this.#linksTo.set(place, links)
    return links
  }

  /** Classes that link records lead to. */
  #farEndsOf({ through }: RelationModel): readonly string[] {
    return through === undefined ? [] : this.severalOf(through.target).map(({ model }) => model.name)
  }

  /** References of the parts that a relation holds, and of the parts in these. */
  #refsInside({ target }: RelationModel, seen = new Set<string>()): readonly RelationModel[] {
    const part = this.model.embeddables.get(target)
    if (part === undefined || seen.has(part.name)) return []
    seen.add(part.name)
    return [...refsOf(part), ...childrenOf(part).flatMap((children) => this.#refsInside(children, seen))]
  }

  get all(): Iterable<MappedClass> {
    return this.#byName.values()
  }

  /** The class of that name, or those that it stands for. */
  severalOf(name: string): readonly MappedClass[] {
    const { several } = this.model.entity(name)
    return several === undefined ? [this.of(name)] : several.map((each) => this.of(each.name))
  }

  /** Throws SKEIN_2001 for a class that is not part of the model. */
  of(classOrName: EntityClass | string): MappedClass {
    return this.#byClass.get(classOrName) ?? this.#byName.get(this.model.entity(classOrName).name)!
  }

  /** Model that a relation leads to; it stands for several classes where the relation leads to several. */
  target(name: string): EntityModel {
    return this.#byName.get(name)?.model ?? this.model.entity(name)
  }

  ofEntity(entity: object): MappedClass {
    return this.#byPrototype.get(Object.getPrototypeOf(entity) as object) ?? this.of(this.codecs.of(entity).model.name)
  }
}

const isCalled = (methods: readonly string[]): boolean => methods.length > 0

/** Stored in the record, but not read with it unless asked for. */
function isAside({ model, bins }: RelationStrategy): boolean {
  return model.holds === 'collection' && bins.length > 0 && !model.eager
}

/** Classes that a relation leads to or away from, with their subclasses, which are pointed to as well, and the base classes that stand for one of them. */
function relatedClasses({ entities, embeddables }: Model): ReadonlySet<string> {
  const named = new Set<string>()
  for (const entity of entities.values()) {
    for (const relation of entity.relations)
      for (const target of targetsOf(relation)) named.add(entity.name).add(target)
    // Companions of its counters and its history go with a record, as members of a relation do.
    const hasShards = entity.properties.some(({ sharding }) => sharding !== undefined)
    if (hasShards || entity.history !== undefined) named.add(entity.name)
  }
  for (const part of embeddables.values())
    for (const relation of part.relations) for (const target of targetsOf(relation)) named.add(target)
  const all = [...entities.values()]
  const pointedTo = new Set(all.filter(({ name }) => named.has(name)).flatMap(kindsOf))
  return new Set(all.filter((entity) => kindsOf(entity).some((kind) => pointedTo.has(kind))).map(({ name }) => name))
}
