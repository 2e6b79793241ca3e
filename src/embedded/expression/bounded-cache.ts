/** Remembers what was made from recently seen bytes; the entry that has been there longest goes first. */
export class BoundedCache<T> {
  readonly #entries = new Map<string, T>()

  constructor(
    readonly capacity: number,
    /** Longer input is not remembered, so that the memory stays bounded too. */
    readonly maxBytes = 4096,
  ) {}

  get size(): number {
    return this.#entries.size
  }

  getOrMake(bytes: Buffer, make: (bytes: Buffer) => T): T {
    if (bytes.length > this.maxBytes) return make(bytes)
    const key = bytes.toString('latin1')
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const made = make(bytes)
    if (this.#entries.size >= this.capacity) this.#entries.delete(this.#entries.keys().next().value!)
    this.#entries.set(key, made)
    return made
  }
}
