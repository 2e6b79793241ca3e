import { CommandError, ResultCode } from '../protocol/result-code.js'
import { sameDefinition, type IndexDefinition } from './index-definition.js'
import { SecondaryIndex, type IndexedRecords } from './secondary-index.js'

/** The secondary indexes of a namespace. */
export class SecondaryIndexes {
  readonly #byName = new Map<string, SecondaryIndex>()

  constructor(readonly namespace: IndexedRecords) {}

  get(name: string): SecondaryIndex | undefined {
    return this.#byName.get(name)
  }

  all(): SecondaryIndex[] {
    return [...this.#byName.values()]
  }

  /** Repeating a creation is harmless, the same definition under a new name renames its index. */
  create(name: string, definition: IndexDefinition): void {
    const named = this.#byName.get(name)
    if (named !== undefined) {
      if (sameDefinition(named.definition, definition)) return
      throw new CommandError(ResultCode.INDEX_EXISTS, "'indexname' already exists with different definition")
    }
    const same = this.all().find((index) => sameDefinition(index.definition, definition))
    if (same !== undefined) this.#byName.delete(same.name)
    const index = same ?? this.#build(name, definition)
    index.name = name
    this.#byName.set(name, index)
  }

  /** True when it was there. */
  delete(name: string): boolean {
    const index = this.#byName.get(name)
    if (index === undefined) return false
    index.drop()
    this.namespace.observers.delete(index)
    return this.#byName.delete(name)
  }

  /** The index on exactly this, or on the same in all sets. */
  find(definition: IndexDefinition): SecondaryIndex | undefined {
    const indexes = this.all()
    return (
      indexes.find((index) => sameDefinition(index.definition, definition)) ??
      indexes.find((index) => sameDefinition(index.definition, { ...definition, setName: '' }))
    )
  }

  #build(name: string, definition: IndexDefinition): SecondaryIndex {
    const index = new SecondaryIndex(this.namespace, name, definition)
    // Commits are followed from the start, so that no change is lost between two steps of the population.
    this.namespace.observers.add(index)
    void index.populate()
    return index
  }
}
