import { calls } from '../driver/aerospike-client.js'
import { dropIndex, startIndex } from '../driver/create-index.js'
import type { Driver } from '../driver/driver.js'
import { indexProgress, listIndexes } from '../driver/list-indexes.js'
import { SkeinError } from '../errors/index.js'
import type { Model } from '../model/index.js'
import { diffIndexes, neededIndexes, type IndexDiff, type IndexesOf, type NeededIndex } from './index-diff.js'
import { hasCalculatedIndexes, hasIndexesOnBytes } from './usable-indexes.js'

/** Progress of the building of an index. */
export interface IndexProgress {
  readonly index: string
  readonly className: string
  readonly property: string
  readonly percent: number
  /** Indexes that are ready, of those this call creates or waits for. */
  readonly done: number
  readonly total: number
}

export interface SyncOptions {
  readonly onProgress?: (progress: IndexProgress) => unknown
  /** Drops and builds anew an index whose name is used for something else. */
  readonly replace?: boolean
  /** Drops indexes on sets of the model that nothing in the model needs. */
  readonly dropUnused?: boolean
  readonly signal?: AbortSignal
}

/** Runs work that closing the database waits for, and refuses it afterwards. */
type Counted = <T>(work: () => Promise<T>) => Promise<T>

const SHORTEST_WAIT = 10
const LONGEST_WAIT = 1000

/**
 * The secondary indexes of a database. Nothing is dropped unless asked for.
 *
 * @example
 * await db.indexes.sync({ onProgress: ({ index, percent }) => console.log(`${index} ${percent} %`) })
 */
export class Indexes {
  readonly #driver: Driver
  readonly #model: Model
  readonly #needed: readonly NeededIndex[]
  readonly #counted: Counted

  /** @internal */
  constructor(driver: Driver, model: Model, indexesOf: IndexesOf, counted: Counted) {
    this.#needed = neededIndexes(model, indexesOf)
    this.#counted = counted
    this.#driver = driver
    this.#model = model
  }

  /** Compares the indexes that the model needs with those on the server. */
  diff(): Promise<IndexDiff> {
    return this.#counted(() => this.#diff())
  }

  /** Creates what is missing and resolves when every index of the model can be queried. */
  sync(options: SyncOptions = {}): Promise<IndexDiff> {
    return this.#counted(() => this.#sync(options))
  }

  async #diff(): Promise<IndexDiff> {
    const all = [...this.#model.entities.values(), ...this.#needed]
    const namespaces = new Set(all.map(({ namespace }) => namespace))
    const stored = await Promise.all([...namespaces].map((name) => listIndexes(this.#driver.client, name)))
    return diffIndexes(this.#needed, stored.flat(), this.#model)
  }

  async #sync(options: SyncOptions): Promise<IndexDiff> {
    const { client } = this.#driver
    const diff = await this.#diff()
    const { different } = diff
    for (const index of [...diff.missing, ...different]) checkVersion(index, this.#driver.capabilities.build)
    if (different.length > 0 && options.replace !== true) throw nameTaken(different[0])
    for (const { namespace, name } of different) await dropIndex(client, namespace, name)
    if (options.dropUnused === true) {
      for (const { namespace, name } of diff.unused) await dropIndex(client, namespace, name)
    }
    const created = [...diff.missing, ...different]
    for (const index of created) {
      options.signal?.throwIfAborted()
      await startIndex(client, index)
    }
    const awaited = [...created, ...diff.building]
    for (const [done, index] of awaited.entries()) await this.#wait(index, done, awaited.length, options)
    return diff
  }

  async #wait(index: NeededIndex, before: number, total: number, { onProgress, signal }: SyncOptions): Promise<void> {
    const { name, className, property, namespace } = index
    for (let pause = SHORTEST_WAIT, last = -1; ; pause = Math.min(pause * 2, LONGEST_WAIT)) {
      signal?.throwIfAborted()
      const percent = await indexProgress(calls(this.#driver.client), namespace, name)
      const isDone = percent >= 100
      if (percent !== last)
        await onProgress?.({ index: name, className, property, percent, done: before + +isDone, total })
      last = percent
      if (isDone) return
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}

/** Refuses an index that this server does not have, before anything is created or dropped. */
function checkVersion(index: NeededIndex, build: string): void {
  const { name, property, expression, type } = index
  if (expression !== undefined && !hasCalculatedIndexes(build))
    throw needsNewer(
      { ...index, property: name },
      build,
      'a calculated value',
      '8.1',
      'index a bin that holds the value',
    )
  if (type === 'blob' && !hasIndexesOnBytes(build))
    throw needsNewer(index, build, `bytes (${property})`, '7.0', 'store the value as text')
}

function needsNewer(index: NeededIndex, build: string, what: string, version: string, instead: string): SkeinError {
  const { name, className, property, namespace, set } = index
  return new SkeinError(
    'SKEIN_2590',
    `The index '${name}' of ${className} is on ${what}, which server ${build} cannot index.`,
    {
      className,
      property,
      namespace,
      set,
      fix: `Use a server of version ${version} or later, or ${instead}.`,
    },
  )
}

function nameTaken({ name, className, property, namespace, set, bin }: NeededIndex): SkeinError {
  return new SkeinError(
    'SKEIN_2502',
    `${className}.${property} needs an index '${name}', but it is on something else.`,
    {
      className,
      property,
      namespace,
      set,
      bin,
      fix: 'Give the index another name, or replace it: await db.indexes.sync({ replace: true }).',
    },
  )
}
