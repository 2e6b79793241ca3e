import type { KeyOf } from '../../model/index.js'
import { during, abortable } from '../context/activity.js'
import type { RelatedTo, RelationName } from '../context/session-types.js'
import { explainWalk } from './explain-walk.js'
import { hopOf, type Hop, type Reached } from './hop.js'
import { WalkEnd } from './walk-end.js'
import type { WalkNode } from './walk-node.js'
import type { HopOptions, WalkExplanation } from './walk-types.js'
import { Walker } from './walker.js'
import type { WalkParts } from './walk-parts.js'

const STEP = 256

/**
 * A way along relations, hop by hop. Each hop reads what it needs of all its entities in one batch; an entity is reached once, at the
 * first hop that leads to it. Made by `session.walk`; nothing is read before it is asked for what it reaches.
 *
 * @example
 * const posts = await session.walk(alice).out('follows', { where: { kind: 'friend' } }).out('posts', { last: 10 }).entities()
 */
export class Walk<T extends object, P extends readonly object[] = readonly [T]> {
  readonly #parts: WalkParts
  readonly #hops: readonly Hop[]

  /** @internal */
  constructor(parts: WalkParts, hops: readonly Hop[] = []) {
    this.#parts = parts
    this.#hops = hops
  }

  /** Extends the walk by one hop. */
  out<K extends RelationName<T> & keyof T & string>(
    relation: K,
    options?: HopOptions<T, K>,
  ): Walk<RelatedTo<T[K]>, readonly [...P, RelatedTo<T[K]>]> {
    const hop = hopOf(this.#reached, relation, options, this.#parts)
    return new Walk(this.#parts, [...this.#hops, hop])
  }

  /** Entities that the last hop reaches; the session manages them. */
  entities(): Promise<T[]> {
    return this.#run(async (end, levels) => (await end.entities(levels.at(-1)!)) as T[])
  }

  /** Streams those entities one after the other, in bounded memory: entities that are not changed are detached again. */
  async *stream(): AsyncGenerator<T> {
    const { end, levels } = await this.#run((end, levels) => Promise.resolve({ end, levels }))
    const level = levels.at(-1)!
    for (let from = 0; from < level.length; from += STEP) {
      const step = level.slice(from, from + STEP)
      const { signal } = this.#parts.options
      const { entities, release } = await abortable(
        this.#counted(() => end.step(step)),
        signal,
      )
      yield* entities as T[]
      release()
    }
  }

  /** Keys of what the last hop reaches. */
  keys(): Promise<KeyOf<T>[]> {
    return this.#run(async (end, levels) => (await end.keys(levels.at(-1)!)) as KeyOf<T>[])
  }

  /** Number of entities that the last hop reaches. */
  count(): Promise<number> {
    return this.#run(async (end, levels) => (await end.present(levels.at(-1)!)).length)
  }

  /** Every way to what the last hop reaches: the entities from the start to the end of it. */
  paths(): Promise<P[]> {
    return this.#run(async (end, levels) => (await end.paths(levels)) as unknown as P[])
  }

  /** Reads of the walk, hop by hop, without sending them. */
  explain(): WalkExplanation {
    return explainWalk(this.#parts.reached, this.#hops)
  }

  get #reached(): Reached {
    return this.#hops.at(-1)?.to ?? this.#parts.reached
  }

  async #run<R>(work: (end: WalkEnd, levels: WalkNode[][]) => Promise<R>): Promise<R> {
    const { checkMayLoad, context, loads, options, start } = this.#parts
    checkMayLoad()
    options.signal?.throwIfAborted()
    const walked = this.#counted(async () => {
      const plain = loads.readerFor(options)
      const reader = options.deleted === undefined ? plain : plain.withDeleted()
      const walker = new Walker(context, reader, options.max, options.deleted)
      const levels = await walker.levels(start(), this.#hops)
      const max = options.max
      return work(new WalkEnd({ walker, reader, loads, max, deleted: options.deleted }, this.#hops), levels)
    })
    return abortable(walked, options.signal)
  }

  /** Closing the database waits for it. */
  #counted<R>(work: () => Promise<R>): Promise<R> {
    return during(this.#parts.context.reading, work)
  }
}
