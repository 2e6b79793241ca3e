import { companionKey, hashShard } from '../../keys/index.js'
import {
  COMPANION_SHARDS_BIN,
  moveBinOf,
  type CompanionsModel,
  type EntityModel,
  type RelationModel,
} from '../../model/index.js'
import type { Bins } from '../../plan/command.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { storedScheme } from '../contract/companion-errors.js'
import type { MemberScheme } from '../write/companion-scheme.js'
import {
  IN_ROOT,
  MOVING,
  ROOT,
  placementIn,
  samePlacement,
  type Placement,
  type PlacementBins,
  type Shards,
} from './placement.js'

/** Owners whose members are known to be elsewhere than in their records. */
const MOST_REMEMBERED = 10_000

/** Says in which records an owner's members are, as far as this process knows. A stale answer costs a round trip: each write is guarded. */
export class GrowingScheme implements MemberScheme {
  readonly bins: PlacementBins
  readonly #model: EntityModel
  readonly #property: string
  readonly #set: string
  readonly #known = new Map<string, Placement>()
  /** Owners some of whose companions were never made, as long as nothing else is learnt of them. */
  readonly #missing = new WeakSet<Placement>()

  constructor(model: EntityModel, { name, bin, companions }: RelationModel) {
    const { set, subkeys } = companions as CompanionsModel
    this.#model = model
    this.#property = name
    this.#set = set
    // A record may have several such collections, and the name of a bin has at most 15 characters.
    const id = hashShard(bin!, 2 ** 32).toString(36)
    this.bins = { subkeys, move: moveBinOf(bin!), split: `_sk.s${id}`, gone: `_sk.g${id}` }
  }

  /** Bins of the owner's record that `learn` takes over. */
  get names(): readonly string[] {
    const { subkeys, move, split } = this.bins
    return [subkeys, move, split]
  }

  of(owner: RecordKey): Placement {
    return this.#known.size === 0 ? IN_ROOT : (this.#known.get(recordId(owner)) ?? IN_ROOT)
  }

  learn(owner: RecordKey, bins: Bins = {}): Placement {
    const stored = placementIn(bins, this.bins)
    if (stored === undefined) throw storedScheme(this.#model, owner, this.#property, this.bins.subkeys)
    const id = recordId(owner)
    const known = this.#known.get(id)
    const placement = known !== undefined && samePlacement(known, stored) ? known : stored
    this.#known.delete(id)
    if (placement.shards === ROOT && placement.move === undefined) return IN_ROOT
    this.#known.set(id, placement)
    if (this.#known.size > MOST_REMEMBERED) this.#known.delete(this.#known.keys().next().value!)
    return placement
  }

  /** Notes that companions are missing which nobody is about to make. */
  noteMissing(owner: RecordKey): void {
    this.#missing.add(this.of(owner))
  }

  hasMissing(owner: RecordKey): boolean {
    return this.#missing.has(this.of(owner))
  }

  /** Bins of a companion of an owner, as it was read, whose members do not move: one that was made or closed for a move that is over is open. */
  settled(owner: RecordKey, stored: Bins, companion: Bins): Bins {
    if (companion[COMPANION_SHARDS_BIN] !== MOVING) return companion
    const { [this.bins.move]: _, [this.bins.gone]: __, ...rest } = companion
    return { ...rest, [COMPANION_SHARDS_BIN]: this.learn(owner, stored).shards }
  }

  /** Homes for so many shards; without a number those of the owner, and while members move also those where they were. */
  homes(owner: RecordKey, shards?: Shards): readonly RecordKey[] {
    if (shards === undefined) return this.#allHomes(owner)
    if (shards === ROOT) return [owner]
    if (shards === 0) return [this.#home(owner, owner.key)]
    return Array.from({ length: shards }, (_, shard) => this.#home(owner, companionKey(owner.key, shard)))
  }

  #allHomes(owner: RecordKey): readonly RecordKey[] {
    const { shards, move } = this.of(owner)
    const homes = [shards, ...(move === undefined ? [] : [move.from, move.to])].flatMap((of) => this.homes(owner, of))
    return [...new Map(homes.map((home) => [recordId(home), home])).values()]
  }

  /** Position of a member's home among the homes. */
  indexOf(member: UserKey, shards: Shards): number {
    return shards > 0 ? hashShard(member, shards) : 0
  }

  homeOf(owner: RecordKey, member: UserKey, shards: Shards): RecordKey {
    if (shards === ROOT) return owner
    return this.#home(owner, shards === 0 ? owner.key : companionKey(owner.key, hashShard(member, shards)))
  }

  #home({ namespace }: RecordKey, key: UserKey): RecordKey {
    return { namespace, set: this.#set, key }
  }
}
