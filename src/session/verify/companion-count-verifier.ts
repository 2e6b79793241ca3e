import type { Driver } from '../../driver/driver.js'
import type { Tenant } from '../../keys/index.js'
import { DELETING_BIN } from '../../model/index.js'
import { NOT_DELETING, read, write } from '../../plan/command.js'
import { binExists, not } from '../../plan/expression.js'
import { addToBin, readBin, readExpression, writeBin } from '../../plan/operations.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { query } from '../../plan/query-command.js'
import { sizeOf } from '../../plan/size-of.js'
import type { Finding } from '../../relations/contract/finding.js'
import type { PartsApart } from '../../relations/contract/inside-verification.js'
import type { MemberStore } from '../../relations/contract/member-store.js'
import { ABOUT_RECORD, readingOf } from '../../relations/verify/read-ends.js'
import type { VerifyAccess, VerifyTerms } from '../../relations/verify/verify-access.js'
import { companionsOf } from '../../relations/write/counter-companions.js'
import { countsOf, type StoredCount } from '../../relations/write/stored-counts.js'
import type { FoundKey } from '../load/key-of-found.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { aboutCount, keyOf } from './count-verifier.js'

/** Owners whose companions are read together. */
const GROUP = 25
const SIZE = '_sk.size'

/** Says which records hold the members of an owner. */
type CountedHomes = Pick<MemberStore, 'schemeBins' | 'learn' | 'homes' | 'growing'> & Pick<PartsApart, 'isInOwner'>

/** Count of an owner, and what its companions hold. */
interface Compared {
  readonly count: number
  readonly size: number
  readonly generation: number
  /** Milliseconds since one of the records was changed. */
  readonly age: number
}

/** Checks counts (`@CountOf`) of collections whose members are in companions: an owner and its companions are compared here. */
export class CompanionCountVerifier {
  readonly #mapped: MappedClass
  readonly #driver: Driver
  readonly #access: VerifyAccess
  readonly #terms: VerifyTerms
  /** Counts that were not judged because a record had changed too recently. */
  unsettled = 0

  constructor(mapped: MappedClass, driver: Driver, access: VerifyAccess, terms: VerifyTerms) {
    this.#mapped = mapped
    this.#driver = driver
    this.#access = access
    this.#terms = terms
  }

  async *check(tenant: Tenant | undefined, signal: AbortSignal | undefined): AsyncGenerator<Finding> {
    const { name: entity, namespace, set } = this.#mapped.model
    for (const count of countsOf(this.#mapped.model).filter(({ apart }) => apart !== undefined)) {
      const relation = this.#mapped.relations.find(({ model }) => model.companions?.set === count.apart)
      const store = relation?.store ?? relation?.inside?.apart
      if (store === undefined) continue
      const filter = not(binExists(DELETING_BIN))
      const command = query({ entity, namespace, set, bins: this.#mapped.codec.binsOf([]), filter })
      for await (const records of this.#driver.query(command, { signal })) {
        const owners = records.flatMap((record) => keyOf(this.#mapped, record, tenant) ?? [])
        for (let i = 0; i < owners.length; i += GROUP) yield* this.#checkGroup(owners.slice(i, i + GROUP), count, store)
      }
    }
  }

  async *#checkGroup(owners: readonly FoundKey[], count: StoredCount, store: CountedHomes): AsyncGenerator<Finding> {
    const first = await this.#compare(owners, count, store)
    const suspects = owners.filter((_, i) => isWrong(first[i]))
    const again = await this.#compare(suspects, count, store)
    for (const [i, compared] of again.entries()) {
      if (compared === undefined || !isWrong(compared)) continue
      if (compared.age < this.#terms.settle) this.unsettled++
      else yield await this.#finding(suspects[i], compared, count)
    }
  }

  /** Undefined for an owner that is gone or being deleted. */
  async #compare(
    owners: readonly FoundKey[],
    { bin, of, type, sharded }: StoredCount,
    store: CountedHomes,
  ): Promise<readonly (Compared | undefined)[]> {
    const { name } = this.#mapped.model
    const about = [...ABOUT_RECORD, readBin(bin), ...store.schemeBins.map(readBin)]
    const roots = await this.#access.read(owners.map(({ record }) => read(name, record, 'none', about)))
    roots.forEach((root, i) => root && store.learn(owners[i].record, root.bins))
    const homes = owners.map(({ record }) => (store.isInOwner?.(record) === true ? [record] : store.homes(record)))
    const measure = [...ABOUT_RECORD, readExpression(SIZE, sizeOf(type, of))]
    const held = await this.#access.read(homes.flat().map((home) => read(name, home, 'none', measure)))
    const shards = await this.#shardsOf(owners, bin, sharded)
    let at = 0
    return roots.map((root, i) => {
      const own = held.slice(at, (at += homes[i].length))
      const counted = [root, ...shards[i]]
      const { isDeleting, generation, age } = readingOf(root)
      // Members that move are in one record or in two, and the count has not changed.
      if (root === null || isDeleting || store.growing?.isUnsettled(owners[i].record) === true) return undefined
      return {
        count: counted.reduce((sum, record) => sum + Number(record?.bins[bin] ?? 0), 0),
        size: own.reduce((sum, record) => sum + Number(record?.bins[SIZE] ?? 0), 0),
        generation,
        age: Math.min(age, ...[...own, ...shards[i]].map((record) => readingOf(record).age)),
      }
    })
  }

  /** Shards of the count of each owner; none where its record alone counts. */
  async #shardsOf(
    owners: readonly FoundKey[],
    bin: string,
    counter: StoredCount['sharded'],
  ): Promise<readonly (readonly (StoredRecord | null)[])[]> {
    if (counter === undefined) return owners.map(() => [])
    const { name } = this.#mapped.model
    const keys = owners.map(({ record }) => companionsOf(record, counter))
    const found = await this.#access.read(
      keys.flat().map((key) => read(name, key, 'none', [...ABOUT_RECORD, readBin(bin)])),
    )
    return keys.map((_, i) => found.slice(i * counter.shards, (i + 1) * counter.shards))
  }

  async #finding(
    { key, record }: FoundKey,
    { count, size, generation }: Compared,
    { property, bin, sharded }: StoredCount,
  ): Promise<Finding> {
    const { name } = this.#mapped.model
    const about = aboutCount(name, property, key)
    if (!this.#terms.repair) return { ...about, state: 'found' }
    // Adds to shards that come meanwhile count as well.
    const mend = sharded === undefined ? writeBin(bin, size) : addToBin(bin, size - count)
    const command = write(name, record, [mend], {
      exists: 'mustExist',
      ttl: 'keep',
      generation,
      guards: [NOT_DELETING],
    })
    const [{ state, reason, error }] = await this.#access.write([command])
    if (state === 'written') return { ...about, state: 'repaired' }
    const isOther = reason === 'missing' || reason === 'guard' || reason === 'generation'
    return isOther ? { ...about, state: 'leftAlone' } : { ...about, state: 'failed', ...(error && { error }) }
  }
}

const isWrong = (compared: Compared | undefined): boolean => compared !== undefined && compared.count !== compared.size
