import { read, type Bins } from '../../../plan/command.js'
import type { ReadOperation } from '../../../plan/operation.js'
import type { MapKey, Value } from '../../../plan/value.js'
import { cut, type KeyRange } from '../../contract/collection-members.js'
import type { Reader } from '../../contract/reader.js'
import type { Tracked } from '../../contract/tracked.js'
import { compareKeys } from '../consolidate/key-order.js'
import type { PartClass } from '../consolidate/part-class.js'
import { timeAt } from '../consolidate/sort-key.js'
import { entriesAfter, entriesAt, entriesFrom, entriesIn, type StoredEntry } from '../consolidate/stored-entries.js'
import { learnBuckets } from '../../buckets/ask-buckets.js'
import type { Bucket, BucketScheme } from '../../buckets/bucket-scheme.js'
import type { PartHomes } from './part-homes.js'
import { PartsAcross } from './parts-across.js'

/** Questions about children in buckets of time, whose order is that of their buckets: only those that matter are read, the nearest first. */
export class PartsInBuckets extends PartsAcross {
  readonly #bin: string
  readonly #scheme: BucketScheme
  readonly #record: Tracked
  readonly #source: Reader

  constructor(parts: PartClass, homes: PartHomes, owner: Tracked, reader: Reader) {
    super(parts, homes, owner, reader)
    this.#bin = parts.bin
    this.#scheme = homes.buckets!
    this.#record = owner
    this.#source = reader
  }

  /** An id does not say in which bucket its child is. */
  protected override isAt(): boolean {
    return true
  }

  override async places(range?: KeyRange): Promise<readonly MapKey[]> {
    if (range === undefined) return super.places()
    return (await this.#entriesOf(range)).map(({ place }) => place)
  }

  override async slice(offset: number, count: number): Promise<readonly Value[]> {
    return (await this.#entriesOf({ offset, count })).map(({ value }) => value)
  }

  override async after(place: MapKey | undefined, count: number): Promise<readonly Value[]> {
    const from = place === undefined ? undefined : timeAt(place as string)
    const buckets = (await this.#buckets()).filter(({ end }) => from === undefined || end > from)
    const entries = await this.#nearest(buckets, entriesFrom(this.#bin, place, count), count + 1)
    return entriesAfter(entries, place)
      .slice(0, count)
      .map(({ value }) => value)
  }

  /** Reads only the buckets that the range touches. */
  protected override async askBetween(
    from: MapKey | null,
    to: MapKey | null,
    operations: readonly ReadOperation[],
  ): Promise<readonly Bins[]> {
    const [begin, end] = [from, to].map((place) => (place === null ? undefined : timeAt(place as string)))
    const buckets = (await this.#buckets()).filter(
      (bucket) => (begin === undefined || bucket.end > begin) && (end === undefined || bucket.start <= end),
    )
    const { model } = this.#record
    const records = await this.#source.read(buckets.map(({ home }) => read(model.name, home, 'none', operations)))
    return records.flatMap((record) => (record === null ? [] : [record.bins]))
  }

  async #entriesOf(range: KeyRange): Promise<readonly StoredEntry[]> {
    const { offset, count } = range
    const buckets = await this.#buckets()
    if (offset < 0)
      return cut(await this.#nearest(buckets.toReversed(), entriesAt(this.#bin, offset, -offset), -offset), range)
    const upTo = Math.min(offset + count, ALL)
    return cut(await this.#nearest(buckets, entriesAt(this.#bin, 0, upTo), upTo), range)
  }

  async #buckets(): Promise<readonly Bucket[]> {
    const { model, key } = this.#record
    await learnBuckets(model, this.#scheme, [key], this.#source)
    return this.#scheme.bucketsIn(key)
  }

  /** Entries of one bucket, of two more, of four more, until there are enough. */
  async #nearest(
    buckets: readonly Bucket[],
    operations: readonly ReadOperation[],
    count: number,
  ): Promise<readonly StoredEntry[]> {
    const { model } = this.#record
    const found: StoredEntry[] = []
    for (let at = 0, step = 1; at < buckets.length && found.length < count; at += step, step *= 2) {
      const commands = buckets.slice(at, at + step).map(({ home }) => read(model.name, home, 'none', operations))
      const records = await this.#source.read(commands)
      found.push(...records.flatMap((record) => entriesIn(record?.bins)))
    }
    return found.sort((a, b) => compareKeys(a.place, b.place))
  }
}

const ALL = 2 ** 31 - 1
