import type { Drain } from '../relations/drain.js'
import type { Managed } from './managed.js'

/** What one save, delete or flush works on, in the order in which it was found. */
export class Work {
  readonly #saved = new Set<Managed>()
  readonly #removed = new Set<Managed>()
  /** Members of large collections, which have to go before the plan is made. */
  readonly drains: Drain[] = []
  readonly #reached = new Map<Managed, Set<Managed>>()
  readonly #undo: { readonly undo: () => void; readonly of: Managed | undefined }[] = []

  constructor(members: readonly Managed[] = []) {
    for (const managed of members) this.add(managed)
  }

  get saved(): Iterable<Managed> {
    return this.#saved
  }

  get removed(): Iterable<Managed> {
    return this.#removed
  }

  /** What is here because others reached it, and those. */
  get reached(): ReadonlyMap<Managed, ReadonlySet<Managed>> {
    return this.#reached
  }

  noteReached(managed: Managed, from: Managed): void {
    const origins = this.#reached.get(managed)
    if (origins === undefined) this.#reached.set(managed, new Set([from]))
    else origins.add(from)
  }

  /** Gathering has changed something in the session, or marked an entity: this puts it back. */
  onTakeBack(undo: () => void, of?: Managed): void {
    this.#undo.push({ undo, of })
  }

  /** Nothing was sent: the session is as it was before this work was gathered. */
  takeBack(): void {
    for (let last = this.#undo.pop(); last !== undefined; last = this.#undo.pop()) last.undo()
  }

  /** These stay after all; what else was gathered goes on. */
  takeBackMarks(wanted: (managed: Managed) => boolean): void {
    for (const mark of this.#undo.splice(0).reverse()) {
      if (mark.of !== undefined && wanted(mark.of)) mark.undo()
      else this.#undo.unshift(mark)
    }
  }

  /** Whether it is here for the sake of those alone: it is one of them, or whatever has reached it is. */
  isOnlyFor(those: ReadonlySet<Managed>, managed: Managed, asked: ReadonlySet<Managed> = new Set()): boolean {
    if (those.has(managed) || asked.has(managed)) return true
    const origins = this.#reached.get(managed)
    if (origins === undefined) return false
    const before = new Set([...asked, managed])
    return [...origins].every((origin) => this.isOnlyFor(those, origin, before))
  }

  /** The members for which this holds, and what reached them. */
  filter(wanted: (managed: Managed) => boolean): Work {
    const members = [...this.#saved, ...this.#removed].filter(wanted)
    const work = new Work(members)
    for (const managed of members) {
      const origins = this.#reached.get(managed)
      if (origins !== undefined) work.#reached.set(managed, origins)
    }
    return work
  }

  get isEmpty(): boolean {
    return this.#saved.size === 0 && this.#removed.size === 0
  }

  has(managed: Managed): boolean {
    return this.#saved.has(managed) || this.#removed.has(managed)
  }

  /** Takes out those whose fate is no longer what it was when they were added, and tells which. */
  dropChanged(): Managed[] {
    const saved = [...this.#saved].filter(({ state }) => state === 'removed' || state === 'gone')
    const removed = [...this.#removed].filter(({ state }) => state !== 'removed')
    for (const managed of saved) this.#saved.delete(managed)
    for (const managed of removed) this.#removed.delete(managed)
    return [...saved, ...removed, ...this.#spareWith(new Set(removed.filter(({ state }) => state !== 'gone')))]
  }

  /** What only those that stay after all would have taken along stays, too. */
  #spareWith(kept: ReadonlySet<Managed>): Managed[] {
    if (kept.size === 0) return []
    this.takeBackMarks((managed) => this.isOnlyFor(kept, managed))
    const stays = this.drains.filter(({ owner }) => !kept.has(owner as Managed))
    this.drains.splice(0, Infinity, ...stays)
    return this.dropChanged()
  }

  add(managed: Managed): void {
    // A hook or a cascade may take back or add a remove while the work is being gathered.
    this.#saved.delete(managed)
    this.#removed.delete(managed)
    if (managed.state === 'removed') this.#removed.add(managed)
    else if (managed.state !== 'gone') this.#saved.add(managed)
  }
}
