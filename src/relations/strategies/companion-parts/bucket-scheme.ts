import { bucketEnd, bucketName, bucketStart, companionKey, startOfBucket, type Buckets } from '../../../keys/index.js'
import type { BucketsModel, CompanionsModel, EntityModel } from '../../../model/index.js'
import { recordId, type RecordKey, type UserKey } from '../../../plan/record-key.js'
import type { Value } from '../../../plan/value.js'
import { storedScheme } from '../../contract/companion-errors.js'
import { CompanionScheme, type Shards } from '../../write/companion-scheme.js'
import { timeAt } from '../consolidate/sort-key.js'

/** Owners whose buckets are remembered. */
const MOST_REMEMBERED = 1000

const WORDS = { hour: 'hours', day: 'days' } as const

/** Buckets as an owner's record lists them. */
interface KnownBuckets extends Buckets {
  /** Names of those that exist or existed, from the oldest. */
  readonly names: readonly string[]
}

/** A bucket of an owner: the time it covers, and the record that holds its children. */
export interface Bucket {
  readonly home: RecordKey
  readonly start: number
  readonly end: number
}

/** Says in which records an owner's children are whose dates choose them. The owner lists its buckets: `["days", 1, ["2026-11-16", …]]`. */
export class BucketScheme extends CompanionScheme {
  readonly ttl: number | undefined
  readonly #owners: EntityModel
  readonly #relation: string
  readonly #companions: string
  readonly #class: Buckets
  readonly #known = new Map<string, KnownBuckets>()

  constructor(model: EntityModel, property: string, companions: CompanionsModel & { readonly buckets: BucketsModel }) {
    super(model, property, companions)
    this.#owners = model
    this.#relation = property
    this.#companions = companions.set
    const { by, every, ttl } = companions.buckets
    this.#class = { unit: by, every }
    this.ttl = ttl
  }

  override shardsOf(owner: RecordKey): Shards {
    return numberOf(this.#known.get(recordId(owner)) ?? this.#class)
  }

  /** The value of the owner's bin, with these buckets. */
  override describe(shards: Shards, names: readonly string[] = []): Value {
    const { unit, every } = read(shards)
    return [WORDS[unit], every, [...names]]
  }

  override learn(owner: RecordKey, stored: Value | undefined): void {
    const id = recordId(owner)
    this.#known.delete(id)
    if (stored === undefined || stored === null) return
    this.#known.set(id, this.#read(owner, stored))
    if (this.#known.size > MOST_REMEMBERED) this.#known.delete(this.#known.keys().next().value!)
  }

  /** Buckets that the owner was last known to list. */
  override homes(owner: RecordKey): readonly RecordKey[] {
    return this.bucketsIn(owner).map(({ home }) => home)
  }

  /** Known buckets with the time they cover, from the oldest. */
  bucketsIn(owner: RecordKey): readonly Bucket[] {
    const known = this.#known.get(recordId(owner))
    if (known === undefined) return []
    return known.names.map((name) => {
      const start = startOfBucket(known, name)!
      return { home: this.#home(owner, name), start, end: bucketEnd(known, start) }
    })
  }

  /** `place` is the child's place in the map, which begins with its date. */
  override homeOf(owner: RecordKey, place: UserKey, shards = this.shardsOf(owner)): RecordKey {
    return this.#home(owner, this.nameAt(place, shards)!)
  }

  /** The name of the bucket of a place; undefined where it has no date that has one. */
  nameAt(place: UserKey, shards: Shards): string | undefined {
    const time = timeAt(place as string)
    return time === undefined ? undefined : bucketName(read(shards), time)
  }

  /** The instant at which the bucket of a place expires; undefined where none does. */
  expiryAt(place: UserKey, shards: Shards): number | undefined {
    if (this.ttl === undefined) return undefined
    const buckets = read(shards)
    return bucketEnd(buckets, bucketStart(buckets, timeAt(place as string)!)) + this.ttl * 1000
  }

  /** Buckets that the owner lists and that have expired by now. */
  expired(owner: RecordKey, now: number): readonly string[] {
    const { ttl } = this
    const known = this.#known.get(recordId(owner))
    if (ttl === undefined || known === undefined) return []
    return known.names.filter((name) => bucketEnd(known, startOfBucket(known, name)!) + ttl * 1000 <= now)
  }

  /** The name of a bucket's record. */
  nameOf(owner: RecordKey, { key }: RecordKey): string {
    const prefix = companionKey(owner.key, '')
    return key instanceof Uint8Array
      ? Buffer.from(key)
          .subarray((prefix as Uint8Array).length)
          .toString()
      : String(key).slice(String(prefix).length)
  }

  #home(owner: RecordKey, name: string): RecordKey {
    return { namespace: owner.namespace, set: this.#companions, key: companionKey(owner.key, name) }
  }

  #read(owner: RecordKey, stored: Value): KnownBuckets {
    const [word, every, names = []] = Array.isArray(stored) ? (stored as readonly unknown[]) : []
    const unit = word === 'hours' ? 'hour' : word === 'days' ? 'day' : undefined
    if (unit === undefined || !Number.isSafeInteger(every) || (every as number) < 1 || !Array.isArray(names))
      throw storedScheme(this.#owners, owner, this.#relation, this.subkeys)
    const buckets = { unit, every: every as number } as const
    const own = (names as readonly unknown[]).filter((name) => startOfBucket(buckets, name) !== undefined)
    return { ...buckets, names: [...new Set(own as readonly string[])].sort() }
  }
}

/** Buckets of hours as -1 to -24, of days from -25 on: companions say so of themselves, where others say of how many shards they are one. */
const numberOf = ({ unit, every }: Buckets): Shards => -(unit === 'hour' ? every : HOURS + every)

const HOURS = 24

const read = (shards: Shards): Buckets =>
  -shards <= HOURS ? { unit: 'hour', every: -shards } : { unit: 'day', every: -shards - HOURS }
