import { companionKey, hashShard } from '../../keys/index.js'
import { COMPANION_SHARDS_BIN, type CompanionsModel, type EntityModel } from '../../model/index.js'
import { homeSays, type Bins, type Guard } from '../../plan/command.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import { storedScheme } from '../contract/companion-errors.js'

/** Owners whose number of shards is remembered because it is not the one their class says. */
const MOST_REMEMBERED = 10_000

/** Number of shards of an owner; 0 where all members are in one companion under the owner's own key; below 0 for buckets of time. */
export type Shards = number

/** Says in which records beside their owner members are, as far as this process knows; the owner's own record has the last word. */
export interface MemberScheme {
  /** Bins of the owner's record that `learn` takes over. */
  readonly names: readonly string[]
  learn(owner: RecordKey, bins?: Bins): unknown
  /** Records that may hold members of the owner; its own may be among them. */
  homes(owner: RecordKey): readonly RecordKey[]
}

/** Says in which records an owner's members are. What its record says counts; the class says it for new owners only. */
export class CompanionScheme implements MemberScheme {
  readonly subkeys: string
  readonly names: readonly string[]
  readonly #model: EntityModel
  readonly #property: string
  readonly #set: string
  readonly #declared: Shards
  readonly #learned = new Map<string, Shards>()

  constructor(model: EntityModel, property: string, { set, subkeys, shards = 0 }: CompanionsModel) {
    this.#model = model
    this.#property = property
    this.#set = set
    this.subkeys = subkeys
    this.names = [subkeys]
    this.#declared = shards
  }

  /** As far as this process knows. A stale number costs a round trip: every companion says of how many it is. */
  shardsOf(owner: RecordKey): Shards {
    return this.#learned.size === 0 ? this.#declared : (this.#learned.get(recordId(owner)) ?? this.#declared)
  }

  /** Condition that a companion is one of so many. */
  isOneOf(shards: Shards): Guard {
    return homeSays(COMPANION_SHARDS_BIN, shards)
  }

  /** The value of the owner's bin for so many shards. */
  describe(shards: Shards): Value {
    return shards === 0 ? ['companion'] : ['hash-shards', shards]
  }

  /** Takes over what the owner's record says. */
  learn(owner: RecordKey, bins: Bins = {}): void {
    const stored = bins[this.subkeys]
    if (stored === undefined || stored === null) return
    const shards = this.#read(owner, stored)
    if (shards === this.shardsOf(owner)) return
    const id = recordId(owner)
    this.#learned.delete(id)
    if (shards === this.#declared) return
    this.#learned.set(id, shards)
    if (this.#learned.size > MOST_REMEMBERED) this.#learned.delete(this.#learned.keys().next().value!)
  }

  homes(owner: RecordKey, shards = this.shardsOf(owner)): readonly RecordKey[] {
    if (shards === 0) return [this.#home(owner, owner.key)]
    return Array.from({ length: shards }, (_, shard) => this.#home(owner, companionKey(owner.key, shard)))
  }

  homeOf(owner: RecordKey, member: UserKey, shards = this.shardsOf(owner)): RecordKey {
    return this.#home(owner, shards === 0 ? owner.key : companionKey(owner.key, hashShard(member, shards)))
  }

  #home({ namespace }: RecordKey, key: UserKey): RecordKey {
    return { namespace, set: this.#set, key }
  }

  #read(owner: RecordKey, stored: Value): Shards {
    const [kind, shards] = Array.isArray(stored) ? (stored as readonly unknown[]) : []
    if (kind === 'companion') return 0
    if (kind === 'hash-shards' && Number.isSafeInteger(shards) && (shards as number) > 0) return shards as number
    throw storedScheme(this.#model, owner, this.#property, this.subkeys)
  }
}
