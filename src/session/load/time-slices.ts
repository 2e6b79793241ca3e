import type { Tenant, TimeRange } from '../../keys/index.js'
import { checkNames, type NamesOf } from '../../model/call-options.js'
import type { LoadOptions } from '../context/session-types.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { ReadOptions } from './unmanaged-read.js'

interface SliceRange extends TimeRange {
  /** More slices than this are refused; 10,000 unless given. */
  readonly max?: number
}

/** Options of `session.loadRange`: the range of time, and what a load takes. */
export interface LoadRangeOptions<T> extends SliceRange, Omit<LoadOptions<T>, 'from'> {}

/** Options of `db.slices`: the range of time, and what a read takes. */
export interface SliceOptions<T> extends SliceRange, ReadOptions<T> {}

const RANGE: NamesOf<SliceRange> = { from: true, to: true, max: true }
const LOAD_RANGE: NamesOf<LoadRangeOptions<object>> = {
  ...RANGE,
  only: true,
  with: true,
  signal: true,
  outsideTransaction: true,
  deleted: true,
}
const SLICES: NamesOf<SliceOptions<object>> = { ...RANGE, only: true, tenant: true, signal: true, deleted: true }

export const checkLoadRange = (options: unknown): void => checkNames('loadRange()', options, LOAD_RANGE)
export const checkSlices = (options: unknown): void => checkNames('slices()', options, SLICES)

/** Slices held at once while they are streamed. */
const STEP = 1_000

type FindSlices<T> = (keys: readonly string[]) => Promise<readonly (T | null)[]>

/**
 * The slices of a range of time that are stored, in the order of time. Nothing is sent before it is awaited, which gives all of them, or
 * iterated over, which reads 1,000 at a time.
 *
 * @example
 * for await (const day of session.loadRange(SensorDay, { sensor: 7 }, { from, to })) console.log(day.samples)
 */
export class TimeSlices<T extends object> implements AsyncIterable<T>, PromiseLike<T[]> {
  readonly #keys: readonly string[]
  readonly #find: FindSlices<T>

  /** @internal */
  constructor(keys: readonly string[], find: FindSlices<T>) {
    this.#keys = keys
    this.#find = find
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (let i = 0; i < this.#keys.length; i += STEP) {
      for (const slice of await this.#find(this.#keys.slice(i, i + STEP))) if (slice !== null) yield slice
    }
  }

  then<A = T[], B = never>(
    onRead?: ((slices: T[]) => A | PromiseLike<A>) | null,
    onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#all().then(onRead, onFailed)
  }

  async #all(): Promise<T[]> {
    const slices: T[] = []
    for await (const slice of this) slices.push(slice)
    return slices
  }
}

/** Keys of the slices that cover the range. */
export function keysCovering(
  { codec }: MappedClass,
  parts: Readonly<Record<string, unknown>>,
  range: SliceRange,
  tenant: Tenant | undefined,
): readonly string[] {
  return codec.key.scheme.covering(parts, range, tenant, range?.max)
}
