import { IDS, KINDS, OWNING, type Kind } from './lasting-models.js'

export interface Thing {
  readonly kind: Kind
  readonly id: number
  text?: string
  nick?: string
  /** Number of the delete that it went with. */
  deleted?: number
  /** Its owner as `Author 1`. */
  owner: string | null
  authorText?: string
  authorNick?: string
  /** Texts of earlier states, the latest first; null for a delete for good. */
  history: (string | null)[]
  /** Stored state that the next flush replaces. */
  before?: { readonly text?: string; readonly nick?: string }
  /** Owner that is stored, while the next flush writes another one or the same again. */
  stored?: { readonly owner: string | null; readonly isWritten: boolean }
}

export interface Link {
  text: string
  deleted?: number
}

export const nameOf = (kind: Kind, id: number): string => `${kind} ${id}`

/** Expected entities, links, copies and histories, as plain values. */
export class LastingGraph {
  readonly things = new Map<string, Thing>()
  readonly follows = new Map<string, Link>()
  readonly readers = new Map<string, Link>()
  readonly items = new Map<number, Set<string>>(IDS.map((id) => [id, new Set()]))
  readonly histories = new Map<string, (string | null)[]>()
  #deletes = 0

  constructor() {
    for (const kind of KINDS) for (const id of IDS) this.create(kind, id)
  }

  thing(kind: Kind, id: number): Thing | undefined {
    return this.things.get(nameOf(kind, id))
  }

  isThere(kind: Kind, id: number): boolean {
    const thing = this.thing(kind, id)
    return thing !== undefined && thing.deleted === undefined
  }

  create(kind: Kind, id: number): void {
    const name = nameOf(kind, id)
    const history = this.histories.get(name) ?? []
    this.histories.set(name, history)
    this.things.set(name, { kind, id, owner: null, history })
  }

  rename(kind: Kind, id: number, values: { readonly text?: string; readonly nick?: string }): void {
    const thing = this.thing(kind, id)!
    thing.before ??= { text: thing.text, nick: thing.nick }
    Object.assign(thing, values)
  }

  /** A reference that is set to what it is, is not written, unless nobody knows what it is. */
  own(child: Thing, owner: string | null, isWritten = false): void {
    child.stored = { owner: child.stored === undefined ? child.owner : child.stored.owner, isWritten }
    child.owner = owner
  }

  childrenOf(name: string): Thing[] {
    return [...this.things.values()].filter(({ owner }) => owner === name)
  }

  delete(kind: Kind, id: number): void {
    this.#delete(this.thing(kind, id)!, ++this.#deletes)
  }

  #delete(thing: Thing, time: number): void {
    thing.deleted = time
    thing.history.unshift(thing.text ?? '')
    for (const child of this.childrenOf(nameOf(thing.kind, thing.id)))
      if (child.deleted === undefined) this.#delete(child, time)
    if (thing.kind !== 'Author') return
    for (const link of this.#followsOf(thing.id).values()) link.deleted ??= time
  }

  restore(kind: Kind, id: number): void {
    const time = this.thing(kind, id)!.deleted!
    const restore = (thing: Thing): void => {
      thing.deleted = undefined
      thing.history.unshift(thing.text ?? '')
      for (const child of this.childrenOf(nameOf(thing.kind, thing.id))) if (child.deleted === time) restore(child)
      if (thing.kind !== 'Author') return
      for (const [key, link] of this.#followsOf(thing.id))
        if (link.deleted === time) link.deleted = this.#deletedEnd(key)
    }
    restore(this.thing(kind, id)!)
  }

  /** Number of the delete of an end that is still deleted: the link comes back with it. */
  #deletedEnd(key: string): number | undefined {
    const ends = key.split(':').map((id) => this.thing('Author', Number(id))?.deleted)
    return ends.find((deleted) => deleted !== undefined)
  }

  /** Number of a delete or of the end of a link. */
  nextDelete(): number {
    return ++this.#deletes
  }

  purge(kind: Kind): void {
    for (const thing of [...this.things.values()])
      if (thing.kind === kind && thing.deleted !== undefined) this.#purge(thing)
  }

  purgeFollows(): void {
    for (const [key, { deleted }] of this.follows) if (deleted !== undefined) this.follows.delete(key)
  }

  purgeReaders(): void {
    for (const [key, { deleted }] of this.readers) if (deleted !== undefined) this.readers.delete(key)
  }

  #purge(thing: Thing): void {
    const name = nameOf(thing.kind, thing.id)
    this.things.delete(name)
    thing.history.unshift(null, thing.text ?? '')
    // A child that was restored alone is deleted softly, as its class says.
    const time = ++this.#deletes
    for (const child of this.childrenOf(name)) if (child.deleted === undefined) this.#delete(child, time)
    if (thing.kind !== 'Author') return
    for (const key of this.#followsOf(thing.id).keys()) this.follows.delete(key)
    for (const key of this.readers.keys()) if (key.endsWith(`:${thing.id}`)) this.readers.delete(key)
  }

  /** Links of an author, in both directions. */
  #followsOf(id: number): Map<string, Link> {
    return new Map([...this.follows].filter(([key]) => key.split(':').includes(String(id))))
  }

  /** Work of a flush beside the changes themselves: histories, and copies. */
  flush(): void {
    for (const thing of this.things.values()) {
      const { before } = thing
      thing.before = undefined
      if (before !== undefined && (before.text !== thing.text || before.nick !== thing.nick)) {
        thing.history.unshift(before.text ?? '')
        if (thing.kind === 'Author' && before.text !== thing.text) this.#follow(thing)
      }
    }
    for (const thing of this.things.values()) {
      const { stored } = thing
      thing.stored = undefined
      if (stored !== undefined && (stored.isWritten || stored.owner !== thing.owner)) this.copy(thing)
    }
  }

  /** Copies that are refreshed on save, of holders that are not deleted. */
  #follow(author: Thing): void {
    for (const child of this.childrenOf(nameOf(author.kind, author.id)))
      if (child.deleted === undefined) child.authorText = author.text
  }

  /** All copies of a child, from its owner. */
  copy(child: Thing): void {
    const { ref } = OWNING.find((each) => each.child === child.kind)!
    if (ref !== 'author') return
    const owner = child.owner === null ? undefined : this.things.get(child.owner)
    if (child.owner !== null && owner === undefined) return
    child.authorText = owner?.text
    if (child.kind === 'Story') child.authorNick = owner?.nick
  }

  refresh(): void {
    for (const thing of this.things.values()) if (thing.kind === 'Story' || thing.kind === 'Memo') this.copy(thing)
  }
}
