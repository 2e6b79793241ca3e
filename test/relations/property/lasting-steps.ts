import fc from 'fast-check'
import { Author, Feed, IDS, KINDS, OWNING, classOf, keyOf, refKey, type Kind } from './lasting-models.js'
import type { Collection, Database, Ref, Session } from 'skein'
import { Follow, LASTING } from './lasting-models.js'
import { nameOf, type LastingGraph } from './lasting-graph.js'

const id = fc.constantFrom(...IDS)
const bool = fc.boolean()
const text = fc.constantFrom('x', 'y', 'z')
/** How an entity takes part: loaded, or by its key alone. */
const loaded = fc.record({ owner: bool, member: bool, members: bool })

const own = fc.record({
  kind: fc.constant('own' as const),
  relation: fc.constantFrom(...OWNING),
  /** Index of the owner's class; none clears the reference. */
  owner: fc.constantFrom(0, 1),
  isOn: fc.constantFrom(true, true, false),
  a: id,
  b: id,
  side: fc.constantFrom('ref', 'collection'),
  loaded,
})
const follow = fc.record({ kind: fc.constant('follow' as const), isOn: bool, a: id, b: id, text, isBack: bool, loaded })
const read = fc.record({
  kind: fc.constant('read' as const),
  how: fc.constantFrom('link', 'unlink', 'restore'),
  feed: id,
  author: id,
  text,
  loaded,
})
const item = fc.record({
  kind: fc.constant('item' as const),
  what: fc.constantFrom('Story' as const, 'Photo' as const),
  isOn: bool,
  feed: id,
  id,
  loaded,
})
const what = fc.constantFrom(...KINDS)
const rename = fc.record({ kind: fc.constant('rename' as const), what, id, text, isNick: bool })
const create = fc.record({ kind: fc.constant('create' as const), what, id })
const remove = fc.record({ kind: fc.constant('delete' as const), what, id, isNow: bool })
const restore = fc.record({ kind: fc.constant('restore' as const), what, id, isLoaded: bool })
const purge = fc.record({
  kind: fc.constant('purge' as const),
  what: fc.constantFrom(...KINDS, 'Follow' as const, 'readers' as const),
})
const refresh = fc.constant({ kind: 'refresh' as const })
const flush = fc.record({ kind: fc.constant('flush' as const), isReloaded: bool })

export const step = fc.oneof(
  { weight: 4, arbitrary: own },
  { weight: 2, arbitrary: follow },
  { weight: 2, arbitrary: read },
  item,
  { weight: 2, arbitrary: rename },
  create,
  { weight: 2, arbitrary: remove },
  { weight: 2, arbitrary: restore },
  purge,
  refresh,
  { weight: 2, arbitrary: flush },
)
type Made<A> = A extends fc.Arbitrary<infer T> ? T : never
export type Step = Made<typeof step>
type Loaded = Made<typeof loaded>

/** A session that makes the changes of a plain graph. */
export class LastingActor {
  readonly #db: Database
  readonly #graph: LastingGraph
  #session: Session

  constructor(db: Database, graph: LastingGraph) {
    this.#db = db
    this.#graph = graph
    this.#session = db.session()
  }

  get session(): Session {
    return this.#session
  }

  async flush(): Promise<void> {
    await this.#session.flush()
    this.#graph.flush()
  }

  giveUp(): void {
    this.#session = this.#db.session()
  }

  /** Makes the change in the session and in the plain graph; what is not there is not changed. */
  async make(step: Step): Promise<void> {
    const graph = this.#graph
    if (step.kind === 'own') return this.#own(step)
    if (step.kind === 'follow') return this.#follow(step)
    if (step.kind === 'read') return this.#read(step)
    if (step.kind === 'item') {
      if (!graph.isThere(step.what, step.id)) return
      const items = (await this.#collection(Feed, step.feed, 'items', step.loaded)) as Collection<object>
      const member = await this.#member(step.what, step.id, step.loaded, true)
      if (step.isOn) items.add(member)
      else items.remove(member)
      if (step.isOn) graph.items.get(step.feed)!.add(nameOf(step.what, step.id))
      else graph.items.get(step.feed)!.delete(nameOf(step.what, step.id))
      return
    }
    if (step.kind === 'rename') {
      if (!graph.isThere(step.what, step.id)) return
      const name = step.isNick && step.what === 'Author' ? 'nick' : 'text'
      Object.assign(await this.#load(step.what, step.id), { [name]: step.text })
      return graph.rename(step.what, step.id, { [name]: step.text })
    }
    await this.flush()
    if (step.kind === 'flush') {
      if (step.isReloaded) this.#session = this.#db.session()
    } else if (step.kind === 'refresh') {
      await this.#db.copies.refresh(Author)
      graph.refresh()
    } else if (step.kind === 'purge') await this.#purge(step.what)
    else if (step.kind === 'create') {
      const { what: kind, id } = step
      if (graph.thing(kind, id) !== undefined || graph.childrenOf(nameOf(kind, id)).length > 0) return
      this.#session.create(classOf(kind), { id: keyOf(kind, id) })
      graph.create(kind, id)
    } else if (step.kind === 'delete') await this.#delete(step)
    else await this.#restore(step)
  }

  async #delete({ what: kind, id, isNow }: Made<typeof remove>): Promise<void> {
    if (!this.#graph.isThere(kind, id)) return
    await nextMillisecond()
    if (isNow) await this.#session.delete(classOf(kind), keyOf(kind, id))
    else this.#session.remove(await this.#load(kind, id))
    this.#graph.delete(kind, id)
  }

  async #restore({ what: kind, id, isLoaded }: Made<typeof restore>): Promise<void> {
    if (this.#graph.thing(kind, id)?.deleted === undefined) return
    const key = keyOf(kind, id)
    if (isLoaded) {
      const entity = await this.#session.load(classOf(kind), key, { deleted: 'include' })
      await this.#session.restore(entity)
    } else await this.#session.restore(classOf(kind), key)
    this.#graph.restore(kind, id)
  }

  async #purge(what: Kind | 'Follow' | 'readers'): Promise<void> {
    const olderThan = new Date(Date.now() + 60_000)
    if (what === 'readers') {
      await this.#db.purge(Feed, { links: 'readers', olderThan })
      return this.#graph.purgeReaders()
    }
    await this.#db.purge(what === 'Follow' ? Follow : classOf(what), { olderThan })
    if (what === 'Follow') this.#graph.purgeFollows()
    else this.#graph.purge(what)
    // A session does not know of what others purge.
    this.#session = this.#db.session()
  }

  async #own({ relation, owner, isOn, a, b, side, loaded }: Made<typeof own>): Promise<void> {
    const graph = this.#graph
    const { child: kind, owners, name } = relation
    const of = owners[owner % owners.length]
    const child = graph.thing(kind, b)
    if (!graph.isThere(kind, b) || !graph.isThere(of, a)) return
    const to = nameOf(of, a)
    if (side === 'ref') {
      const here = (await this.#load(kind, b)) as { readonly [name: string]: Ref<object> }
      const member = loaded.owner ? await this.#load(of, a) : refKey(relation, of, a)
      here[relation.ref].set(isOn ? member : null)
      return graph.own(child!, isOn ? to : null)
    }
    // A child that is known by its key alone has no known owner until the flush.
    if (!loaded.member) await this.flush()
    const members = (await this.#collection(classOf(of), keyOf(of, a), name, loaded)) as Collection<object>
    const member = await this.#member(kind, b, loaded, false)
    if (isOn) members.add(member)
    else members.remove(member)
    const isWritten = !loaded.member && this.#session.isDirty()
    if (isOn) graph.own(child!, to, isWritten)
    else if (child!.owner === to) graph.own(child!, null, isWritten)
    if (!loaded.member) await this.flush()
  }

  async #follow({ isOn, a, b, text, isBack, loaded }: Made<typeof follow>): Promise<void> {
    const graph = this.#graph
    if (!graph.isThere('Author', a) || !graph.isThere('Author', b)) return
    const [here, there, name] = isBack ? [b, a, 'followers'] : [a, b, 'follows']
    const links = (await this.#collection(Author, here, name, loaded)) as Collection<object, Follow>
    const member = await this.#member('Author', there, loaded, false)
    const key = `${a}:${b}`
    const link = graph.follows.get(key)
    if (isOn) {
      links.link(member, { text })
      graph.follows.set(key, { text })
      return
    }
    await this.flush()
    await nextMillisecond()
    links.unlink(member)
    if (link !== undefined) link.deleted ??= graph.nextDelete()
    await this.flush()
  }

  async #read({ how, feed, author, text, loaded }: Made<typeof read>): Promise<void> {
    const graph = this.#graph
    if (!graph.isThere('Author', author)) return
    const readers = (await this.#collection(Feed, feed, 'readers', loaded)) as Collection<object, object>
    const member = await this.#member('Author', author, loaded, false)
    const key = `${feed}:${author}`
    const link = graph.readers.get(key)
    if (how === 'link') {
      readers.link(member, { text })
      graph.readers.set(key, { text })
      return
    }
    await this.flush()
    if (how === 'unlink') {
      await nextMillisecond()
      readers.unlink(member)
      if (link !== undefined) link.deleted ??= graph.nextDelete()
    } else {
      await readers.restore(member)
      if (link !== undefined) link.deleted = undefined
    }
    await this.flush()
  }

  /** The entity, or its key, which a collection of several classes has with its set. */
  async #member(kind: Kind, id: number, { member }: Loaded, isOfSeveral: boolean): Promise<object> {
    if (member) return this.#load(kind, id)
    const key = isOfSeveral ? `lg_${kind.toLowerCase()}:${id}` : keyOf(kind, id)
    return key as unknown as object
  }

  async #collection(
    of: (typeof LASTING)[number],
    key: number | string,
    name: string,
    { owner, members }: Loaded,
  ): Promise<unknown> {
    const session = this.#session
    if (!owner) return session.at(of, key as never).collection(name as never)
    const entity = await session.load(of, key, { with: (members ? [name] : []) as never[] })
    return (entity as { readonly [name: string]: unknown })[name]
  }

  #load(kind: Kind, id: number): Promise<object> {
    return this.#session.load(classOf(kind), keyOf(kind, id))
  }
}

/** Deletes of one millisecond have the same time, by which a restore knows what belongs together. */
async function nextMillisecond(): Promise<void> {
  const now = Date.now()
  while (Date.now() === now) await new Promise((resolve) => setImmediate(resolve))
}
