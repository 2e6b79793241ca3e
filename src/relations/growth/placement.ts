import { randomInt } from 'node:crypto'
import type { Bins } from '../../plan/command.js'
import type { Value } from '../../plan/value.js'

/** Location of members: `ROOT` in their owner's record, 0 in one companion under the owner's key, otherwise spread over so many. */
export type Shards = number

/** A number that no earlier move of the same collection had, nor a companion of it. */
export const newId = (): number => randomInt(1, 2 ** 47)

export const ROOT: Shards = -1

/** Value of a companion's number of shards while members are moving. */
export const MOVING = -2

/** Number of companions that hold the members. */
export const companionsIn = (shards: Shards): number => (shards === ROOT ? 0 : Math.max(1, shards))

/** A change of the number of shards that has begun. `prepare`: records are made and closed; `move`: members move. */
export interface Move {
  readonly id: number
  readonly from: Shards
  readonly to: Shards
  readonly phase: 'prepare' | 'move'
  readonly reason: SplitReason
}

/** Last move that a companion took part in; `null` where an earlier version of this package has made it. */
export type Joined = number | null

/** Reason why members move: a threshold of the class, more shards in the class, or a call. */
export type SplitReason = 'bytes' | 'members' | 'busyPerSecond' | 'tooLarge' | 'call'

/** Location of the members of an owner. */
export interface Placement {
  /** As its record says; once members move, where they go. */
  readonly shards: Shards
  readonly move?: Move
}

export type ChangeKind = 'add' | 'remove' | 'change'

/** Bins of an owner's record that say where the members of one collection are. */
export interface PlacementBins {
  /** Bin that says how members are stored; absent while they are in the owner's record. */
  readonly subkeys: string
  /** Number of the move that is under way; companions that take part say the same. */
  readonly move: string
  /** From where to where, and how far it is. */
  readonly split: string
  /** Members that were taken out while they moved, in the record that they would have moved to. */
  readonly gone: string
}

export const IN_ROOT: Placement = Object.freeze({ shards: ROOT })

/** True while some members may still be where they were before. */
export const isMoving = ({ move }: Placement): boolean => move?.phase === 'move'

export const samePlacement = (a: Placement, b: Placement): boolean =>
  a.shards === b.shards && a.move?.id === b.move?.id && a.move?.phase === b.move?.phase

/** Reads a placement; undefined where the bins hold something else. */
export function placementIn(bins: Bins, names: PlacementBins): Placement | undefined {
  const stored = bins[names.subkeys]
  const shards = stored === undefined || stored === null ? ROOT : shardsIn(stored)
  const id = bins[names.move]
  if (shards === undefined) return undefined
  if (id === undefined || id === null) return shards === ROOT ? IN_ROOT : { shards }
  const [from, to, phase, reason] = (bins[names.split] ?? []) as readonly Value[]
  if (!isShards(from) || !isShards(to) || (phase !== 'prepare' && phase !== 'move')) return undefined
  const move: Move = { id: Number(id), from, to, phase, reason: reason as SplitReason }
  return { shards: phase === 'move' ? to : from, move }
}

/** The value of the owner's bin for so many shards; `null` where it has none. */
export function describeShards(shards: Shards): Value {
  if (shards === ROOT) return null
  return shards === 0 ? ['companion'] : ['hash-shards', shards]
}

function shardsIn(stored: Value): Shards | undefined {
  const [kind, shards] = Array.isArray(stored) ? (stored as readonly Value[]) : []
  if (kind === 'companion') return 0
  return kind === 'hash-shards' && isShards(shards) && shards > 0 ? shards : undefined
}

const isShards = (stored: Value | undefined): stored is number => Number.isInteger(stored) && Number(stored) >= ROOT
