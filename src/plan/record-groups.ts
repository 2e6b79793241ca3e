/** Groups of records that must change together: a union-find over record ids. */
export class RecordGroups {
  readonly #parents = new Map<string, string>()

  tie(a: string, b: string): void {
    const [first, second] = [this.#root(a), this.#root(b)]
    if (first !== second) this.#parents.set(second, first)
  }

  /** Splits the records into groups, in the order given. */
  groups(ids: Iterable<string>): string[][] {
    const groups = new Map<string, string[]>()
    for (const id of ids) {
      const root = this.#root(id)
      const group = groups.get(root)
      if (group === undefined) groups.set(root, [id])
      else group.push(id)
    }
    return [...groups.values()]
  }

  /** Tests whether a record is in the group of one of these. */
  sameGroupAs(ids: Iterable<string>): (id: string) => boolean {
    const roots = new Set([...ids].map((id) => this.#root(id)))
    return (id) => roots.has(this.#root(id))
  }

  #root(id: string): string {
    let root = id
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent
    // Path compression.
    for (let at = id; at !== root;) {
      const parent = this.#parents.get(at)!
      this.#parents.set(at, root)
      at = parent
    }
    return root
  }
}
