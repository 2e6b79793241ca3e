import Aerospike from 'aerospike'
import type { Database } from 'skein'
import { companionKey, hashShard } from '#src/keys/index.js'
import type { Mode } from '../server.js'
import type { CompanionsModel } from '#src/model/index.js'
import type { Family, Reference } from './operation.js'
import { DAYS, TODAY } from './days.js'

type Bins = { [bin: string]: unknown }
export type Stored = ReadonlyMap<string, Bins>

/** Records of each set that a case may use. */
const PER_SET = 4
/** Keys begin here, so that no other number looks like one. */
const FIRST_KEY = 1_000_000

/** The records that one case of an operation works on: no other case uses their keys. */
export class World {
  readonly #db: Database
  readonly #family: Family
  readonly #base: number

  constructor(db: Database, family: Family, number: number) {
    this.#db = db
    this.#family = family
    this.#base = FIRST_KEY + number * 10
  }

  /** The key of the i-th entity of a class that is keyed by numbers. */
  number(i: number): number {
    return this.#base + i
  }

  /** The key of the i-th entity of a class that is keyed by strings; of sharded collections it is always in the same shard. */
  name(i: number): string {
    const { shards = 1 } = this.#family
    let name = `k${this.#base + i}`
    while (hashShard(name, shards) !== i % shards) name = name.replace('k', 'k0')
    return name
  }

  /** The stored records, with keys as if this were the first case; versions count attempts and are left out. */
  async stored(): Promise<Stored> {
    const keys = this.#keys()
    const rows = await this.#db.client.batchRead(keys.map(({ key }) => ({ key, readAllBins: true })))
    const found = new Map<string, Bins>()
    rows.forEach(({ status, record }, n) => {
      const { place, apart } = keys[n]
      if (status !== 0 && status !== 2) throw new Error(`reading ${place} answered ${String(status)}`)
      if (status !== 0) return
      const bins = this.#normal(record.bins)
      const owner = found.get(apart?.owner ?? '')
      found.set(place, bins)
      if (apart !== undefined && owner !== undefined) owner[apart.bin] = merged(owner[apart.bin], bins[apart.bin])
    })
    return found
  }

  /** Records that no one can write, because a transaction still holds them. */
  async locked(): Promise<string[]> {
    const keys = this.#keys()
    const policy = new Aerospike.BatchWritePolicy({ exists: Aerospike.policy.exists.UPDATE })
    const touch = (key: Aerospike.Key) => ({
      type: Aerospike.batchType.BATCH_WRITE,
      key,
      ops: [Aerospike.operations.touch(-2)],
      policy,
    })
    const rows = await this.#db.client.batchWrite(keys.map(({ key }) => touch(key)))
    return keys.flatMap(({ place }, n) => (rows[n].status === 0 || rows[n].status === 2 ? [] : place))
  }

  /** Deletes all records of the case, so that a scan of the next ones does not meet them. */
  async clear(mode: Mode): Promise<void> {
    const policy = new Aerospike.BatchRemovePolicy({ durableDelete: mode === 'sc' })
    await this.#db.client.batchRemove(
      this.#keys().map(({ key }) => key),
      undefined,
      policy,
    )
  }

  /** Verifies and repairs every entity of the case; companions without an owner are found by a scan. */
  async repair(): Promise<void> {
    if (this.#family.shards !== undefined) {
      for await (const finding of this.#db.verify(this.#family.classes, { repair: true, settle: 0 }))
        if (finding.state === 'failed') throw new Error(finding.message, { cause: finding.error })
      return
    }
    const session = this.#db.session()
    for (const entityClass of this.#family.classes) {
      const { key } = this.#db.model.entity(entityClass)
      const keys = places((i) => (key.kind === 'string' ? this.name(i) : this.number(i)))
      for (const entity of await session.findMany<object>(entityClass, keys)) {
        if (entity !== null) await session.verify(entity, { repair: true, settle: 0 })
      }
    }
  }

  /** Owners come before their companions. */
  #keys(): Place[] {
    return this.#family.classes.flatMap((entityClass) => {
      const { namespace, set, key, relations } = this.#db.model.entity(entityClass)
      const valueOf = (i: number): string | number => (key.kind === 'string' ? this.name(i) : this.number(i))
      const records = places((i) => ({ place: `${set}/${i}`, key: new Aerospike.Key(namespace, set, valueOf(i)) }))
      const companions = relations.flatMap(({ bin, companions: apart }) =>
        apart === undefined
          ? []
          : places((i) =>
              shardsOf(valueOf(i), apart).map((each, shard) => ({
                place: `${apart.set}/${i}:${shard}`,
                key: new Aerospike.Key(namespace, apart.set, each),
                apart: { owner: `${set}/${i}`, bin: bin! },
              })),
            ).flat(),
      )
      return [...records, ...companions]
    })
  }

  #normal({ version: _version, ...bins }: Bins): Bins {
    // An owner may list a bucket that was never made: it is skipped.
    for (const [name, value] of Object.entries(bins))
      if (Array.isArray(value) && value[0] === 'days') bins[name] = value.slice(0, 2)
    return this.#plain(bins) as Bins
  }

  #plain(value: unknown): unknown {
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#plain(item))
      // Keys that were chosen by their shard are in another order in each case.
      return this.#family.shards === undefined ? items : items.sort()
    }
    if (typeof value === 'number') return this.#isKey(value) ? value - this.#base : value
    if (typeof value === 'string') {
      const number = Number(value.replace('k', ''))
      return this.#isKey(number) ? number - this.#base : value
    }
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([name, item]) => [String(this.#plain(name)), this.#plain(item)] as const)
    return Object.fromEntries(entries.sort(([a], [b]) => a.localeCompare(b)))
  }

  #isKey(value: number): boolean {
    return value >= this.#base && value < this.#base + 10
  }
}

/** A record that a case may use; the bin of a companion is shown with its owner, too. */
interface Place {
  readonly place: string
  readonly key: Aerospike.Key
  readonly apart?: { readonly owner: string; readonly bin: string }
}

/** Keys of the companions of an owner. */
function shardsOf(owner: string | number, { shards = 0, buckets }: CompanionsModel): (string | number)[] {
  if (buckets !== undefined) return [...DAYS, TODAY].map((day) => companionKey(owner, day) as string)
  return shards === 0 ? [owner] : Array.from({ length: shards }, (_, shard) => companionKey(owner, shard) as string)
}

/** Lists and maps as if they were in one record; a key that is there twice stays twice. */
function merged(a: unknown, b: unknown): unknown {
  if (a === undefined || b === undefined) return a ?? b
  return Array.isArray(a) ? [...(a as unknown[]), ...(b as unknown[])].sort() : { ...a, ...b }
}

function places<T>(make: (i: number) => T): T[] {
  return Array.from({ length: PER_SET }, (_, i) => make(i))
}

export function show(stored: Stored): string {
  return [...stored]
    .map(([place, bins]) => `${place} ${JSON.stringify(bins)}`)
    .sort()
    .join('\n')
}

interface Link {
  readonly from: string
  readonly bin: string
  readonly to: string
  readonly isMarked: boolean
  readonly mirrored: boolean
  /** Attributes of the link. */
  readonly attributes: string
}

function links(stored: Stored, references: readonly Reference[]): Link[] {
  return [...stored].flatMap(([from, bins]) =>
    references
      .filter(({ set }) => from.startsWith(`${set}/`))
      .flatMap(({ bin, to, field, mirrored = false }) =>
        keysIn(bins[bin], field).map(([key, carried]) => ({
          from,
          bin,
          to: `${to}/${String(key)}`,
          isMarked: '_sk.deleting' in bins,
          mirrored,
          attributes: JSON.stringify(carried),
        })),
      ),
  )
}

/** A key, a list of keys, a map from keys to attributes, or a map of parts that have keys in a field. */
function keysIn(value: unknown, field?: string): (readonly [key: unknown, carried?: unknown])[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value.map((key) => [key])
  if (typeof value !== 'object' || value === null) return [[value]]
  if (field === undefined) return Object.entries(value)
  return Object.values(value as { [id: string]: Bins }).flatMap((part) => keysIn(part[field]))
}

const showLink = ({ from, bin, to, attributes }: Link): string => `${from}.${bin} → ${to} ${attributes ?? ''}`

/** References to records that do not exist, but for those of records whose delete has begun. */
export function dangling(stored: Stored, { references }: Family): string[] {
  return links(stored, references)
    .filter(({ to, isMarked }) => !isMarked && !stored.has(to))
    .map(showLink)
}

/** References whose other side does not point back, or says something else of the link. */
export function oneSided(stored: Stored, { references }: Family): string[] {
  const all = links(stored, references).filter(({ mirrored }) => mirrored)
  const isBack = (a: Link, b: Link): boolean => a.from === b.to && a.to === b.from && a.attributes === b.attributes
  return all.filter((link) => !link.isMarked && !all.some((other) => isBack(link, other))).map(showLink)
}
