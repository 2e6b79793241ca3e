import { readProperty } from '../../codec/index.js'
import { SkeinError } from '../../errors/index.js'
import type { KeyValue } from '../../keys/index.js'
import {
  DELETING_BIN,
  goneBinsOf,
  isShown,
  shownClassOf,
  type DeletedMode,
  type RelationModel,
} from '../../model/index.js'
import { onlyIf, read, type ReadCommand } from '../../plan/command.js'
import type { Expression } from '../../plan/expression.js'
import { recordId, userKeyId, type RecordKey } from '../../plan/record-key.js'
import type { Reader } from '../../relations/contract/reader.js'
import type { RelationStrategy } from '../../relations/contract/relation-strategy.js'
import type { Tracked } from '../../relations/contract/tracked.js'
import { collectionStateOf, findRefState } from '../../relations/state/state-of.js'
import type { SessionContext } from '../context/session-context.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { classOfKey } from '../mapping/several-classes.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import { isEntityShown } from '../tracking/soft-deleted.js'
import { cut, linksFrom } from './follow-links.js'
import type { Hop } from './hop.js'
import type { WalkNode } from './walk-node.js'

/** Queries of an index under way at a time: each of them streams. */
const QUERIES_AT_ONCE = 16

/** Entities checked at least by a batch that looks for those which a hop with a limit continues with. */
const LEAST_CHECKED = 256

/** Links of one record or part. */
type Lead = Pick<WalkNode, 'id' | 'mapped' | 'key' | 'part'>
/** Undefined where there is no record, or one that does not meet the conditions. */
type Leads = readonly Lead[] | undefined

/** Goes from hop to hop: what one hop needs of all its entities is read in one batch. */
export class Walker {
  readonly #context: SessionContext
  readonly #reader: Reader
  readonly #max: number
  readonly #seen = new Set<string>()

  readonly #deleted: DeletedMode | undefined

  constructor(context: SessionContext, reader: Reader, max: number, deleted?: DeletedMode) {
    this.#deleted = deleted
    this.#context = context
    this.#reader = reader
    this.#max = max
  }

  /** The nodes of each hop, the start first. Conditions of the last hop are left to those who read what it leads to. */
  async levels(start: readonly WalkNode[], hops: readonly Hop[]): Promise<WalkNode[][]> {
    const levels: WalkNode[][] = []
    let level = [...start]
    this.#see(level)
    for (const [i, hop] of hops.entries()) {
      await this.#takeAwaited(level)
      const leads = await this.#follow(level, hop, hops[i - 1]?.filter)
      // A later hop may reach what this one has left out.
      level.forEach(({ id }, j) => leads[j] ?? this.#seen.delete(id))
      levels.push(level.filter((_, j) => leads[j] !== undefined))
      level = await this.#atMost(this.#join(level, leads, hop), hop)
      this.#see(level)
    }
    return [...levels, level]
  }

  /** Takes in entities that unsent changes name by their keys, where they are stored, so that their collections show these changes. */
  async #takeAwaited(level: readonly WalkNode[]): Promise<void> {
    const { identity } = this.#context
    const awaited = level.filter(({ mapped, key, part }) => part === undefined && identity.isAwaited(mapped, key.key))
    if (awaited.length === 0) return
    const present = await this.present(awaited, undefined)
    awaited.forEach(({ key }, i) => {
      const model = present[i]?.model
      if (model !== undefined) this.#reader.unread(model, this.#reader.fromStored(model, key.key))
    })
  }

  /** The first nodes that are there and meet the conditions, as many as the hop allows; each batch that checks more of them is twice as wide. */
  async #atMost(nodes: WalkNode[], hop: Hop): Promise<WalkNode[]> {
    const { limit = Infinity, filter } = hop
    if (nodes.length <= limit || !isChecked(hop)) return nodes
    const kept: WalkNode[] = []
    let size = Math.max(limit, LEAST_CHECKED)
    for (let from = 0; from < nodes.length && kept.length < limit; from += size / 2) {
      const step = nodes.slice(from, from + size)
      const present = await this.present(step, filter)
      kept.push(...step.filter((_, i) => present[i] !== undefined))
      size *= 2
    }
    return kept.slice(0, limit)
  }

  /** Nodes whose records are there and meet the conditions, with the class that the record says. */
  async present(level: readonly WalkNode[], filter: Expression | undefined): Promise<(MappedClass | undefined)[]> {
    return Promise.all(level.map((node) => this.#presence(node, filter)))
  }

  #follow(level: readonly WalkNode[], hop: Hop, filter: Expression | undefined): Promise<Leads[]> {
    if (hop.strategies.size === 0) return Promise.resolve(level.map((node) => this.#fromPart(node, hop)))
    if (hop.to.kind === 'parts') return this.#intoParts(level, hop, filter)
    const isQueried = [...hop.strategies.values()].some(({ members }) => members?.byPosition !== undefined)
    if (isQueried) return this.#byIndex(level, hop, filter)
    return Promise.all(level.map((node) => this.#fromRecord(node, hop, filter)))
  }

  /** A query for each record that is there: an index is asked for one key at a time. */
  async #byIndex(level: readonly WalkNode[], hop: Hop, filter: Expression | undefined): Promise<Leads[]> {
    const present = await this.present(level, filter)
    return inParallel(level, QUERIES_AT_ONCE, async (node, i) => {
      if (present[i] === undefined) return undefined
      const strategy = hop.strategies.get(present[i])
      return strategy === undefined
        ? []
        : this.#leadsTo(
            strategy.model,
            await linksFrom(this.#sourceOf(node), strategy, hop, this.#reader, this.#deleted),
          )
    })
  }

  async #fromRecord(node: WalkNode, hop: Hop, filter: Expression | undefined): Promise<Leads> {
    const source = this.#sourceOf(node)
    // Until the record is read its class is unknown, and a subclass may store the relation in another bin.
    const candidates =
      source.known === undefined ? distinct(strategiesAt(hop, node.mapped)) : strategyOf(hop, source.known.mapped)
    const [mapped, ...found] = await Promise.all([
      this.#presence(node, filter),
      ...candidates.map((strategy) => linksFrom(source, strategy, hop, this.#reader, this.#deleted)),
    ])
    if (mapped === undefined) return undefined
    const strategy = hop.strategies.get(mapped)
    const at = candidates.findIndex((each) => strategy !== undefined && isSame(each, strategy))
    return at < 0 ? [] : this.#leadsTo(candidates[at].model, found[at])
  }

  #leadsTo(relation: RelationModel, keys: readonly KeyValue[]): readonly Lead[] {
    const { classes } = this.#context
    const target = classes.target(shownClassOf(relation))
    return keys.map((key) => this.#leadTo(classOfKey(classes, target, key).mapped, this.#reader.recordKey(target, key)))
  }

  #fromPart(node: WalkNode, hop: Hop): readonly Lead[] {
    const { part } = node
    const { relation } = hop
    if (relation.holds === 'collection') return this.#partsIn(part!, relation.name, node, hop)
    const key = findRefState(readProperty(part!, relation.name) ?? {})?.key ?? null
    return key === null ? [] : this.#leadsTo(relation, [key])
  }

  /** Children inside records belong to the entities of these, which are loaded with them. */
  async #intoParts(level: readonly WalkNode[], hop: Hop, filter: Expression | undefined): Promise<Leads[]> {
    const [present, owners] = await Promise.all([
      this.present(level, filter),
      Promise.all(level.map((node) => this.#ownerOf(node, hop))),
    ])
    return level.map((node, i) => {
      const owner = owners[i]
      const strategy = owner === null ? undefined : hop.strategies.get(this.#context.classes.of(owner.model.name))
      if (present[i] === undefined) return undefined
      if (strategy === undefined) return []
      return this.#partsIn(owner!.entity, strategy.relation, node, hop)
    })
  }

  /** Children of an entity, or of a part. */
  #partsIn(owner: object, relation: string, node: WalkNode, hop: Hop): readonly Lead[] {
    const { parts, binding } = collectionStateOf(readProperty(owner, relation) as object)
    const placed = parts!.placed().map(({ part }) => part)
    const chosen = hop.match === undefined ? placed : placed.filter(hop.match)
    return cut(chosen, hop).map((part): Lead => {
      const id = `${node.id}#${relation}#${userKeyId(binding!.strategy.keyOf!(part)!)}`
      return { id, mapped: node.mapped, key: node.key, part }
    })
  }

  /** Reads the children of an entity that the session has without them, in the same batch. */
  async #ownerOf(node: WalkNode, hop: Hop): Promise<Tracked | null> {
    const { known } = this.#sourceOf(node)
    const { name } = hop.relation
    if (known !== undefined && !known.isUnread) {
      await hop.strategies.get(known.mapped)?.load([known], this.#reader)
      return known.shownState === 'removed' ? null : known
    }
    const { model } = node.mapped
    const [found] = await this.#reader.find(model, [this.#reader.fromStored(model, node.key.key)], [name])
    const strategy = found === null ? undefined : hop.strategies.get((found as ManagedEntity).mapped)
    // Children in companions are not read with their owner.
    if (strategy !== undefined && strategy.isInRecord !== true) await strategy.load([found!], this.#reader)
    return found
  }

  /** The class of the record; undefined where there is none, or one that does not meet the conditions. */
  async #presence(node: WalkNode, filter: Expression | undefined): Promise<MappedClass | undefined> {
    const { known } = this.#sourceOf(node)
    if (node.part !== undefined) return node.mapped
    if (known !== undefined && (known.shownState === 'removed' || !isEntityShown(known, this.#deleted)))
      return undefined
    if (known !== undefined && filter === undefined && !known.isUnread) return known.mapped
    const [record] = await this.#reader.read([this.#ask(node, filter)])
    if (record === null || DELETING_BIN in record.bins) return undefined
    if (filter === undefined && !isShown(node.mapped.model, record.bins, this.#deleted)) return undefined
    const { discriminator } = node.mapped.model
    if (discriminator === undefined) return node.mapped
    const own = discriminator.subclasses.find(({ value }) => value === record.bins[discriminator.bin])
    return own && this.#context.classes.of(own.entity)
  }

  #ask({ mapped, key }: WalkNode, filter: Expression | undefined): ReadCommand {
    const { name, discriminator } = mapped.model
    const kind = discriminator === undefined ? [] : [discriminator.bin]
    if (filter === undefined) return read(name, key, [...kind, ...goneBinsOf(mapped.model)])
    return onlyIf(read(name, key, kind.length === 0 ? 'none' : kind), filter)
  }

  /** Entities each once, at the first hop that reaches them. */
  #join(level: readonly WalkNode[], leads: readonly Leads[], hop: Hop): WalkNode[] {
    const next = new Map<string, WalkNode>()
    const limit = isChecked(hop) ? Infinity : (hop.limit ?? Infinity)
    leads.forEach((found, i) => {
      for (const lead of found ?? []) {
        const again = next.get(lead.id)
        if (again !== undefined) again.from.push(level[i])
        else if (next.size < limit && !this.#seen.has(lead.id)) next.set(lead.id, { ...lead, from: [level[i]] })
      }
    })
    return [...next.values()]
  }

  #see(level: readonly WalkNode[]): void {
    for (const { id } of level) this.#seen.add(id)
    if (this.#seen.size > this.#max) throw tooFar(this.#max)
  }

  #leadTo(mapped: MappedClass, key: RecordKey): Lead {
    return { id: recordId(key), mapped, key }
  }

  #sourceOf({ mapped, key }: WalkNode): { owner: Tracked; known: ManagedEntity | undefined } {
    const known = this.#context.identity.get(mapped, key.key)
    return { known, owner: known ?? recordAt(mapped, key) }
  }
}

/** True where records that a hop leads to may be left out: its limit is of the others. */
export function isChecked({ filter, to }: Hop): boolean {
  if (to.kind === 'parts') return false
  return filter !== undefined || (to.several ?? [to.mapped]).some(({ model }) => model.deletedAt !== undefined)
}

/** Stands for a record of which nothing is known but its place. */
function recordAt({ model }: MappedClass, key: RecordKey): Tracked {
  return { entity: NOBODY, model, key, state: 'stored', isUnread: true, deleteGuards: [] }
}
const NOBODY = Object.freeze({})

function strategyOf({ strategies }: Hop, mapped: MappedClass): readonly RelationStrategy[] {
  const own = strategies.get(mapped)
  return own === undefined ? [] : [own]
}

/** Relation as the classes store it that a record of the set may have. */
function strategiesAt({ strategies }: Hop, { place }: MappedClass): readonly RelationStrategy[] {
  return [...strategies].filter(([mapped]) => mapped.place === place).map(([, strategy]) => strategy)
}

function distinct(all: readonly RelationStrategy[]): readonly RelationStrategy[] {
  return all.filter((strategy, i) => all.findIndex((each) => isSame(each, strategy)) === i)
}

/** Stored in the same way: a subclass has the relations of its base class. */
const isSame = (a: RelationStrategy, b: RelationStrategy): boolean =>
  a === b || (a.model.strategy === b.model.strategy && a.model.bin === b.model.bin && a.model.target === b.model.target)

/** The results in order; at most so many at a time. */
async function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, i: number) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length)
  let next = 0
  const lane = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i], i)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return results
}

export function tooFar(max: number): SkeinError {
  return new SkeinError('SKEIN_2440', `The walk reaches more than ${max} entities.`, {
    fix: 'Give a hop a limit, first or last, or give the walk a larger max: session.walk(start, { max }).',
  })
}
