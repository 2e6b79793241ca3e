import Aerospike from 'aerospike'
import type { Database } from 'skein'
import { CLASSES, REFERENCES } from './models.js'

type Bins = { [bin: string]: unknown }

/** How many records of each set a case may use. */
const PER_SET = 4
const NUMBERED = ['agent', 'user', 'team', 'profile']
const NAMED = ['listing', 'member', 'desk']

/** The records that one case of an operation works on: no other case uses their keys. */
export class World {
  readonly namespace: string
  readonly #db: Database
  readonly #base: number

  constructor(db: Database, namespace: string, number: number) {
    this.#db = db
    this.namespace = namespace
    this.#base = number * 10
  }

  /** The key of the i-th agent, user, team or profile. */
  number(i: number): number {
    return this.#base + i
  }

  /** The key of the i-th listing, member or desk. */
  name(i: number): string {
    return `k${this.#base + i}`
  }

  /** What is stored, with keys as if this were the first case; versions count attempts and are left out. */
  async stored(): Promise<Map<string, Bins>> {
    const keys = [
      ...NUMBERED.flatMap((set) => places((i) => [set, i, this.number(i)] as const)),
      ...NAMED.flatMap((set) => places((i) => [set, i, this.name(i)] as const)),
    ]
    const rows = await this.#db.client.batchRead(
      keys.map(([set, , key]) => ({ key: new Aerospike.Key(this.namespace, set, key), readAllBins: true })),
    )
    const found = new Map<string, Bins>()
    rows.forEach(({ status, record }, n) => {
      const [set, i] = keys[n]
      if (status !== 0 && status !== 2) throw new Error(`reading ${set} ${i} answered ${String(status)}`)
      if (status === 0) found.set(`${set}/${i}`, this.#normal(record.bins))
    })
    return found
  }

  /** Verifies and repairs every entity of the case. */
  async repair(): Promise<void> {
    const session = this.#db.session()
    for (const entityClass of CLASSES) {
      const isNamed = NAMED.includes(this.#db.model.entity(entityClass).set)
      const keys = places((i) => (isNamed ? this.name(i) : this.number(i)))
      for (const entity of await session.findMany<object>(entityClass, keys)) {
        if (entity !== null) await session.verify(entity, { repair: true, settle: 0 })
      }
    }
  }

  #normal({ version: _version, ...bins }: Bins): Bins {
    const plain = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(plain)
      if (typeof value === 'number') return value - this.#base
      if (typeof value === 'string' && value.startsWith('k')) return Number(value.slice(1)) - this.#base
      return value
    }
    const named = Object.entries(bins).filter(([bin]) => bin !== 'name' && bin !== 'city')
    return Object.fromEntries(named.sort(([a], [b]) => a.localeCompare(b)).map(([bin, value]) => [bin, plain(value)]))
  }
}

function places<T>(make: (i: number) => T): T[] {
  return Array.from({ length: PER_SET }, (_, i) => make(i))
}

export function show(stored: Map<string, Bins>): string {
  return [...stored]
    .map(([place, bins]) => `${place} ${JSON.stringify(bins)}`)
    .sort()
    .join('\n')
}

function links(stored: Map<string, Bins>): { from: string; bin: string; to: string; isMarked: boolean }[] {
  return [...stored].flatMap(([place, bins]) =>
    REFERENCES.filter(({ set }) => place.startsWith(`${set}/`)).flatMap(({ bin, to }) => {
      const value = bins[bin]
      const keys = value === undefined ? [] : Array.isArray(value) ? value : [value]
      return keys.map((key) => ({ from: place, bin, to: `${to}/${String(key)}`, isMarked: '_sk.deleting' in bins }))
    }),
  )
}

/** References to records that do not exist, but for those of records whose delete has begun. */
export function dangling(stored: Map<string, Bins>): string[] {
  return links(stored)
    .filter(({ to, isMarked }) => !isMarked && !stored.has(to))
    .map(({ from, bin, to }) => `${from}.${bin} → ${to}`)
}

/** References whose other side does not point back. */
export function oneSided(stored: Map<string, Bins>): string[] {
  const all = links(stored)
  return all
    .filter(({ from, to, isMarked }) => !isMarked && !all.some((back) => back.from === to && back.to === from))
    .map(({ from, bin, to }) => `${from}.${bin} → ${to}`)
}
