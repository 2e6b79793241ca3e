import {
  CLOSED_BIN,
  COMPANION_CLOSED,
  COMPANION_SHARDS_BIN,
  DELETING_BIN,
  MOVED_BIN,
  type EntityModel,
} from '../../model/index.js'
import type { Bins } from '../../plan/command.js'
import type { WriteOperation } from '../../plan/operation.js'
import { addToBin, removeBin, writeBin } from '../../plan/operations.js'
import { recordId } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { MemberStore } from '../../relations/contract/member-store.js'
import type { CompanionRecords, RelationStrategy } from '../../relations/contract/relation-strategy.js'
import type { Tracked } from '../../relations/contract/tracked.js'
import { listBin } from '../../relations/write/link-bin.js'
import { companionsOf, type Count, type ShardedCounter } from '../../relations/write/counter-companions.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** The value of `_sk.closed` in a companion that is not one of so many. */
const ALONE = 'counter'

/** Kinds of companion records that move with the records of a class. */
export function companionKinds(mapped: MappedClass): readonly CompanionRecords[] {
  const related = mapped.relations.flatMap(
    (strategy) => strategy.companions ?? (strategy.store?.isApart === true ? [linksIn(strategy, strategy.store)] : []),
  )
  return [...related, ...(mapped.shards?.counters ?? []).map((counter) => countsIn(counter, mapped))]
}

/** Lists of keys, and links with attributes. */
export const linksIn = (strategy: RelationStrategy, store: MemberStore): CompanionRecords => ({
  of(owner, stored) {
    store.learn(owner, stored)
    const id = recordId(owner)
    return store.homes(owner).filter((home) => recordId(home) !== id)
  },
  settled: (owner, stored, companion) => store.growing?.settled(owner, stored, companion) ?? companion,
  copied(bins, owner, reader) {
    if (strategy.copied !== undefined) return strategy.copied(bins, owner, reader)
    const { model, key } = owner
    const keys = bins[store.bin]
    if (keys == null) return []
    const entries = (keys as readonly (string | number)[]).map((each) => [each, undefined] as const)
    const create = [removeBin(store.bin), listBin.create(store.bin)]
    return entries.length === 0 ? create : [...create, ...listBin.copy({ model, key, bin: store.bin }, entries)]
  },
})

/** A counter is written as its class stores it: what is read does not say whether it is a double. */
const countsIn = (counter: ShardedCounter, { codec, model }: MappedClass): CompanionRecords => {
  const { discriminator } = model
  const kind = discriminator === undefined ? {} : { [discriminator.bin]: discriminator.value! }
  const counted = ({ [counter.bin]: count }: Bins): readonly WriteOperation[] =>
    count == null
      ? []
      : codec
          .create(codec.hydrate({ ...kind, [counter.bin]: count }))
          .filter((operation) => 'bin' in operation && operation.bin === counter.bin)
  return {
    of: (owner) => companionsOf(owner, counter),
    copied: counted,
    added: (stored) =>
      counted(stored).flatMap((each) => (each.kind === 'writeBin' ? addToBin(each.bin, each.value as Count) : [])),
  }
}

/** Bins of a companion that nobody may change any more; what it said of itself before is kept. */
export function closedBins(stored: Bins, claim: number): Bins {
  const { [CLOSED_BIN]: before, [COMPANION_SHARDS_BIN]: shards } = stored
  const number = before ?? shards ?? ALONE
  return {
    [MOVED_BIN]: claim,
    [CLOSED_BIN]: number,
    ...(number === ALONE ? {} : { [COMPANION_SHARDS_BIN]: COMPANION_CLOSED }),
  }
}

/** Operations that let others change a companion again. */
export const opening = (closed: Value): readonly WriteOperation[] => [
  removeBin(CLOSED_BIN),
  ...(closed === ALONE ? [] : [writeBin(COMPANION_SHARDS_BIN, closed)]),
]

const STATE = new Set([CLOSED_BIN, COMPANION_SHARDS_BIN, MOVED_BIN, DELETING_BIN])

/** Bins of the copy of a companion, which is closed as long as its owner is not there. */
export function copiedBins(stored: Bins, claim: number, isClosed: boolean): Bins {
  const members = Object.entries(stored).filter(([name, value]) => !STATE.has(name) && value != null)
  const closed = closedBins(stored, claim)
  const { [CLOSED_BIN]: number, ...open } = closed
  const state = isClosed ? closed : { ...open, ...(number === ALONE ? {} : { [COMPANION_SHARDS_BIN]: number }) }
  return { ...Object.fromEntries(members), ...state }
}

/** Writes these bins; what members are is written as their class stores it, the rest as it was read. */
export function copyOperations(
  kind: CompanionRecords,
  bins: Bins,
  present: Bins | undefined,
  owner: Tracked,
  reader: Parameters<CompanionRecords['copied']>[2],
): readonly WriteOperation[] {
  const members = kind.copied(bins, owner, reader)
  const written = new Set(members.flatMap((operation) => ('bin' in operation ? [operation.bin] : [])))
  const others = Object.keys(present ?? {}).filter((name) => !written.has(name) && !(name in bins))
  const rest = Object.keys(bins).filter((name) => !written.has(name))
  return [...others.map(removeBin), ...members, ...rest.map((name) => writeBin(name, bins[name] as Value))]
}

/** True where records of the class have companions that move with them. */
export const hasCompanions = (model: EntityModel): boolean =>
  model.relations.some(({ companions }) => companions !== undefined) ||
  model.properties.some(({ sharding }) => sharding !== undefined)

/** True where records of the class have collections that are sharded on demand. */
export const hasGrowing = ({ relations }: EntityModel): boolean =>
  relations.some(({ companions }) => companions?.when !== undefined)
