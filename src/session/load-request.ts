import type { Receiver } from '../driver/reader.js'
import type { StoredRecord } from '../plan/outcome.js'
import type { RecordKey } from '../plan/record-key.js'
import type { Managed } from './managed.js'
import type { MappedClass } from './mapped-class.js'
import type { Projection } from './projection.js'

/** Told what a load found. */
export type OnLoaded = (managed: Managed | null) => void
export type OnFailed = (error: unknown) => void

/** One record that is being read, for everyone who asks for it meanwhile. */
export class LoadRequest implements Receiver {
  readonly mapped: MappedClass
  readonly key: RecordKey
  readonly projection: Projection
  readonly #take: (request: LoadRequest, record: StoredRecord | null) => void
  readonly #drop: (request: LoadRequest) => void
  readonly #waiting: { readonly loaded: OnLoaded; readonly failed: OnFailed }[] = []

  constructor(
    mapped: MappedClass,
    key: RecordKey,
    projection: Projection,
    take: (request: LoadRequest, record: StoredRecord | null) => void,
    drop: (request: LoadRequest) => void,
  ) {
    this.mapped = mapped
    this.key = key
    this.projection = projection
    this.#take = take
    this.#drop = drop
  }

  wait(loaded: OnLoaded, failed: OnFailed): void {
    this.#waiting.push({ loaded, failed })
  }

  found(record: StoredRecord | null): void {
    try {
      this.#take(this, record)
    } catch (error) {
      this.failed(error)
    }
  }

  resolve(managed: Managed | null): void {
    this.#drop(this)
    for (const { loaded } of this.#waiting) loaded(managed)
  }

  failed(error: unknown): void {
    this.#drop(this)
    for (const { failed } of this.#waiting) failed(error)
  }
}
