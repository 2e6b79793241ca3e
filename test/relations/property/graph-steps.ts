import fc from 'fast-check'
import type { Collection, Ref, Session } from 'skein'
import {
  Badge,
  CLASSES,
  IDS,
  Person,
  RELATIONS,
  classOf,
  collectionsOf,
  make,
  note,
  type Between,
  type Kind,
} from './graph-models.js'
import type { PlainGraph } from './plain-graph.js'

const id = fc.constantFrom(...IDS)
const bool = fc.boolean()

const link = fc.record({
  kind: fc.constantFrom('link' as const, 'link' as const, 'unlink' as const),
  /** Index of one of the relations of this run. */
  slot: fc.constantFrom(0, 1, 2),
  a: id,
  b: id,
  role: fc.constantFrom('r', 's'),
  /** The side on which it is changed. */
  side: fc.constantFrom('a', 'b'),
  /** Entities that are loaded before the change is made, and whether with their collections; the others are known by key alone. */
  loaded: fc.record({ a: bool, b: bool, members: bool }),
})
const noted = fc.record({
  kind: fc.constant('note' as const),
  person: id,
  id,
  about: fc.option(id),
  isOn: bool,
  isLoaded: bool,
})
const badge = fc.record({ kind: fc.constant('badge' as const), id, isOn: bool })
const rename = fc.record({
  kind: fc.constant('rename' as const),
  what: fc.constantFrom('Person', 'Task'),
  id,
  title: fc.constantFrom('x', 'y', 'z', undefined),
})
export const create = fc.record({
  kind: fc.constant('create' as const),
  what: fc.constantFrom('Person', 'Task', 'Step', 'Log'),
  id,
})

export const change = fc.oneof({ weight: 8, arbitrary: link }, { weight: 2, arbitrary: rename }, noted, badge)
/** Each run works on a few relations, so that its changes meet. */
export const palette = fc.tuple(...[0, 1, 2].map(() => fc.constantFrom(...RELATIONS)))
export const remove = fc.record({
  kind: fc.constant('delete' as const),
  what: fc.constantFrom('Person', 'Task', 'Step', 'Log'),
  id,
  isNow: bool,
})
export const refresh = fc.record({ kind: fc.constant('refresh' as const), what: fc.constantFrom('Person', 'Task'), id })
export const flush = fc.record({ kind: fc.constant('flush' as const), isReloaded: bool })

/** Members that are deleted with their owner, as far as the deleting session knows. */
const OWNED: ReadonlySet<Kind> = new Set<Kind>(['Step', 'Log'])

/** A pair of which one end is known by its key alone. */
const PAIR = 'pair'

type Made<A> = A extends fc.Arbitrary<infer T> ? T : never
export type Change = Made<typeof change> | Made<typeof create>
export type Removal = Made<typeof remove>
type Linking = Made<typeof link>

/** A session that makes changes, and what it was given to see. */
export class Actor {
  readonly session: Session
  readonly graph: PlainGraph
  readonly #seen = new Map<string, readonly [Kind, object]>()
  /** Entities that the next flush deletes, and those it stores or links for the first time. */
  readonly #unsent = new Set<string>()

  /** The badges that were made here: another session may be the first to store one. */
  readonly #badges = new Map<number, Badge>()
  readonly #palette: readonly Between[]

  constructor(session: Session, graph: PlainGraph, palette: readonly Between[]) {
    this.session = session
    this.graph = graph
    this.#palette = palette
  }

  /** The entities that were loaded here and are still there. */
  get seen(): Iterable<readonly [Kind, object]> {
    return [...this.#seen.values()].filter(([kind, entity]) => this.graph.has(kind, (entity as Person).id))
  }

  async flush(): Promise<void> {
    await this.session.flush()
    this.#unsent.clear()
  }

  /** Makes the change in the session and in the plain graph; what is gone is not changed. */
  async make(step: Change): Promise<void> {
    const { graph, session } = this
    if (step.kind === 'note') return this.#note(step)
    if (step.kind === 'badge') return this.#badge(step)
    if (step.kind === 'rename') {
      const what = step.what as Kind
      if (graph.has(what, step.id)) Object.assign(await this.#load(what, step.id, false), { title: step.title })
      return
    }
    if (step.kind === 'create') {
      const what = step.what as Kind
      if (graph.has(what, step.id) || graph.mayBeListed(what, step.id)) return
      // A session has one entity for each key, and what it is to delete, or was given by its key, may be that of another.
      if (this.#unsent.size > 0) await this.flush()
      const made = session.persist(make(what, step.id))
      this.#seen.set(`${what} ${step.id}`, [what, made])
      return graph.add(what, step.id)
    }
    const { from, to } = this.#palette[step.slot]
    if (!graph.has(from, step.a) || !graph.has(to, step.b)) return
    if (step.kind === 'link') await this.#link(step)
    else await this.#unlink(step)
  }

  /** Deletes here, too, what others have deleted, also with what it had for them alone; reads again what they changed at the same time. */
  async giveUp(isStored: (kind: Kind, id: number) => Promise<boolean>): Promise<void> {
    const { graph, session } = this
    for (const kind of ['Person', 'Task', 'Step', 'Log'] satisfies Kind[])
      for (const id of IDS)
        if (!graph.has(kind, id) || (OWNED.has(kind) && !(await isStored(kind, id))))
          await session.delete(classOf(kind), id)
    for (const [id, made] of this.#badges) if (await isStored('Badge', id)) session.detach(made)
    for (const [kind, entity] of this.seen) if (kind === 'Person') await session.refresh(entity)
  }

  async remove({ what, id, isNow }: Removal): Promise<void> {
    const kind = what as Kind
    if (!this.graph.has(kind, id)) return
    await this.#sendPairs()
    if (isNow) await this.session.delete(classOf(kind), id)
    else {
      this.session.remove(await this.#load(kind, id, false))
      this.#unsent.add(`${kind} ${id}`)
    }
    this.graph.remove(kind, id)
  }

  /** Refreshing drops its unsent changes; the plain graph does not know of them. */
  async refresh({ what, id }: Made<typeof refresh>): Promise<void> {
    const [, entity] = this.#seen.get(`${what} ${id}`) ?? []
    if (entity !== undefined && this.graph.has(what, id)) await this.session.refresh(entity)
  }

  async #link({ slot, a, b, role, side, loaded }: Linking): Promise<void> {
    const relation = this.#palette[slot]
    const { from, name, to, back, shape, hasRole } = relation
    if (shape === 'oneToOne') await this.#sendPairs()
    this.graph.link(relation, a, b, hasRole ? role : null)
    // A child that is known by key alone has no known former parent.
    if (relation.owns || (shape === 'oneToMany' && side === 'a' && !loaded.b)) this.#unsent.add(`link to ${to} ${b}`)
    const add = async (here: Collection<object, object>, kind: Kind, id: number, isLoaded: boolean): Promise<void> => {
      const end = isLoaded ? await this.#load(kind, id, loaded.members) : id
      if (hasRole) here.link(end, { name: role })
      else here.add(end)
    }
    if (side === 'a' || back === undefined) {
      if (shape === 'oneToOne') {
        if (!loaded.b) this.#unsent.add(PAIR)
        const here = await this.#ref(from, a, name)
        return here.set(loaded.b ? await this.#load(to, b, loaded.members) : b)
      }
      return add(await this.#collection(from, a, name, loaded.a, loaded.members), to, b, loaded.b)
    }
    if (shape === 'manyToMany')
      return add(await this.#collection(to, b, back, loaded.b, loaded.members), from, a, loaded.a)
    if (shape === 'oneToOne' && !loaded.a) this.#unsent.add(PAIR)
    const here = await this.#ref(to, b, back)
    here.set(loaded.a ? await this.#load(from, a, loaded.members) : a)
  }

  async #unlink({ slot, a, b, side, loaded }: Linking): Promise<void> {
    const relation = this.#palette[slot]
    const { from, name, to, back, shape } = relation
    const { graph } = this
    // Nothing is sent for a key that was added and taken out again: the child stays where it is stored, and is not deleted.
    if (this.#unsent.has(`link to ${to} ${b}`)) await this.flush()
    if (shape === 'oneToOne') {
      await this.#sendPairs()
      // Unlinks the other end.
      const [kind, here, property] = side === 'a' ? [from, a, name] : [to, b, back!]
      ;(await this.#ref(kind, here, property)).set(null)
      const [left, right] = side === 'a' ? [a, graph.partnerOf(relation, a)] : [graph.ownerOf(relation, b), b]
      if (left !== undefined && right !== undefined) graph.unlink(relation, left, right)
      return
    }
    if (relation.owns) this.#unsent.add(`${to} ${b}`)
    if (side === 'a' || back === undefined) {
      const members = await this.#collection(from, a, name, loaded.a, loaded.members)
      members.remove(loaded.b ? await this.#load(to, b, loaded.members) : b)
      return graph.unlink(relation, a, b)
    }
    if (shape === 'manyToMany') {
      const members = await this.#collection(to, b, back, loaded.b, loaded.members)
      members.remove(loaded.a ? await this.#load(from, a, loaded.members) : a)
      return graph.unlink(relation, a, b)
    }
    ;(await this.#ref(to, b, back)).set(null)
    const owner = graph.ownerOf(relation, b)
    if (owner !== undefined) graph.unlink(relation, owner, b)
  }

  /** A partner that is set by key alone and unset before the flush stays as stored. */
  async #sendPairs(): Promise<void> {
    if (this.#unsent.has(PAIR)) await this.flush()
  }

  async #note({ person, id, about, isOn, isLoaded }: Made<typeof noted>): Promise<void> {
    const { graph, session } = this
    if (!graph.has('Person', person) || (about !== null && !graph.has('Task', about))) return
    const { notes } = (await this.#load('Person', person, false)) as Person
    if (isOn) notes.add(note(id, about === null || !isLoaded ? about : await session.load(CLASSES.Task, about)))
    else notes.remove(id)
    if (isOn) graph.note(person, id, about)
    else graph.unnote(person, id)
  }

  async #badge({ id, isOn }: Made<typeof badge>): Promise<void> {
    const { graph, session } = this
    if (!graph.has('Person', id) || graph.has('Badge', id) === isOn) return
    const { badge } = (await this.#load('Person', id, false)) as Person
    if (isOn) {
      await badge.load()
      const made = new Badge()
      badge.set(made)
      this.#badges.set(id, made)
      this.#unsent.add(`Badge ${id}`)
      return graph.add('Badge', id)
    }
    if (this.#unsent.delete(`Badge ${id}`)) badge.set(null)
    else await session.delete(Badge, id)
    graph.remove('Badge', id)
  }

  async #ref(kind: Kind, id: number, name: string): Promise<Ref<object>> {
    return readRelation(await this.#load(kind, id, false), name) as Ref<object>
  }

  async #collection(
    kind: Kind,
    id: number,
    name: string,
    isLoaded: boolean,
    withMembers: boolean,
  ): Promise<Collection<object, object>> {
    if (isLoaded) return readRelation(await this.#load(kind, id, withMembers), name) as Collection<object, object>
    const handle = this.session.at(classOf(kind), id)
    return handle.collection(name as never)
  }

  async #load(kind: Kind, id: number, withMembers: boolean): Promise<object> {
    // A query takes no part in a transaction, but reads beside it see what was flushed.
    const paths = withMembers ? collectionsOf(kind) : []
    const entity = await this.session.load(classOf(kind), id, { with: paths as never[] })
    this.#seen.set(`${kind} ${id}`, [kind, entity])
    return entity
  }
}

const readRelation = (entity: object, name: string): unknown => (entity as { [name: string]: unknown })[name]
