import { bucketEnd, bucketName, bucketStart, companionKey, startOfBucket, type Buckets } from '../../keys/index.js'
import { COMPANION_SHARDS_BIN, type BucketsModel, type CompanionsModel, type EntityModel } from '../../model/index.js'
import { homeSays, type Bins, type Guard, type Ttl } from '../../plan/command.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import { storedScheme } from '../contract/companion-errors.js'
import { CompanionScheme, type Shards } from '../write/companion-scheme.js'

/** Owners whose buckets are remembered. */
const MOST_REMEMBERED = 1000

const WORDS = { hour: 'hours', day: 'days' } as const

/** Buckets as an owner's record lists them. */
interface KnownBuckets extends Buckets {
  /** Names of those that exist or existed, from the oldest. */
  readonly names: readonly string[]
}

/** Reads the time of a member from what chooses its bucket: its place, or the time itself. */
type TimeOf = (route: UserKey) => number | undefined

/** A bucket of an owner: the time it covers, and the record that holds its members. */
export interface Bucket {
  readonly home: RecordKey
  readonly start: number
  readonly end: number
}

/** Says in which records an owner's members are, by their dates. The owner lists its buckets: `["days", 1, ["2026-11-16", …]]`. */
export class BucketScheme extends CompanionScheme {
  readonly ttl: number | undefined
  readonly #owners: EntityModel
  readonly #relation: string
  readonly #companions: string
  readonly #class: Buckets
  readonly #timeOf: TimeOf
  readonly #known = new Map<string, KnownBuckets>()

  constructor(
    model: EntityModel,
    property: string,
    companions: CompanionsModel & { readonly buckets: BucketsModel },
    timeOf: TimeOf,
  ) {
    super(model, property, companions)
    this.#timeOf = timeOf
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

  override isOneOf(shards: Shards): Guard {
    const { unit, every } = read(shards)
    const length = every === 1 ? `one ${unit}` : `${every} ${WORDS[unit]}`
    return homeSays(COMPANION_SHARDS_BIN, shards, `it is a bucket of ${length}`)
  }

  /** The value of the owner's bin, with these buckets. */
  override describe(shards: Shards, names: readonly string[] = []): Value {
    const { unit, every } = read(shards)
    return [WORDS[unit], every, [...names]]
  }

  override learn(owner: RecordKey, bins: Bins = {}): void {
    const id = recordId(owner)
    this.#known.delete(id)
    const stored = bins[this.subkeys]
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

  /** `route` tells the time of the member. */
  override homeOf(owner: RecordKey, route: UserKey, shards = this.shardsOf(owner)): RecordKey {
    return this.#home(owner, this.nameAt(route, shards)!)
  }

  /** The name of the bucket of a time; undefined where that has none. */
  nameAt(route: UserKey, shards: Shards): string | undefined {
    const time = this.#timeOf(route)
    return time === undefined ? undefined : bucketName(read(shards), time)
  }

  /** The instant at which the bucket of a time expires; undefined where none does. */
  expiryAt(route: UserKey, shards: Shards): number | undefined {
    if (this.ttl === undefined) return undefined
    const buckets = read(shards)
    return bucketEnd(buckets, bucketStart(buckets, this.#timeOf(route)!)) + this.ttl * 1000
  }

  /** Expiry of the record of a bucket that is made now: its own, because it must outlive its owner's, which may be put off at any time. */
  ttlOf(route: UserKey, shards: Shards): Ttl {
    const expiry = this.expiryAt(route, shards)
    return expiry === undefined ? 'never' : Math.max(1, Math.ceil((expiry - Date.now()) / 1000))
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
