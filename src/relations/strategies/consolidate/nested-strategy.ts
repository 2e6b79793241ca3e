import type { KeyValue } from '../../../keys/index.js'
import type { RelationModel } from '../../../model/index.js'
import type { Tracked } from '../../contract/tracked.js'
import type { CollectionView } from '../../contract/collection-members.js'
import type { Reader } from '../../contract/reader.js'
import type { RelationStrategy } from '../../contract/relation-strategy.js'
import type { NestedParts } from './nested-parts.js'
import { NestedView } from './nested-view.js'
import { completeParts, hasEagerRefs } from './part-refs.js'

const NO_BINS: readonly string[] = Object.freeze([])

/** The collection of one part: it is stored with the part, so there is nothing to load or to send of its own. */
export class NestedStrategy implements RelationStrategy {
  readonly relation: string
  readonly model: RelationModel
  readonly bins = NO_BINS
  readonly #nested: NestedParts
  readonly #reader: Reader

  constructor(nested: NestedParts, reader: Reader) {
    this.model = nested.parts.relation
    this.relation = this.model.name
    this.#nested = nested
    this.#reader = reader
  }

  get keyOf(): (part: object) => KeyValue | null {
    return this.#nested.parts.keyOf
  }

  hasChanges(): boolean {
    return false
  }

  save(): void {}
  remove(): void {}

  load(): Promise<readonly Tracked[]> {
    return Promise.resolve([])
  }

  view({ state }: Tracked): CollectionView {
    const { codec } = this.#nested.parts
    const isDone = state === 'gone' || !hasEagerRefs(codec)
    return new NestedView(this.#nested, isDone ? undefined : (parts) => completeParts(parts, codec, this.#reader))
  }
}
