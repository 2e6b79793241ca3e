import type { Bins } from '../../plan/command.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { SplitAccess } from '../../plan/split-access.js'

/** Members of a collection that is sharded on demand, for those who move them or finish a move. */
export interface GrowingMembers {
  /** Bins of the owner's record that say where its members are; `learn` takes them over. */
  readonly schemeBins: readonly string[]
  learn(owner: RecordKey, bins: Bins): void
  /** Records that hold members of the owner, as far as that is known. */
  homes(owner: RecordKey): readonly RecordKey[]
  /** Bin of the owner's record that is there while members move. */
  readonly moveBin: string
  /** True of an owner whose members are known to be moving. */
  isUnsettled(owner: RecordKey): boolean
  /** Finishes a move of members that was cut short. */
  finish(owner: RecordKey, access: SplitAccess): Promise<void>
  /** Makes the companion of a member where it is missing though none move, as long as the owner says that it is there for. */
  makeHome(owner: RecordKey, member: UserKey, access: SplitAccess): Promise<void>
  /** Bins of a companion of an owner, as it was read, whose members do not move: one that was closed for a move that is over is open. */
  settled(owner: RecordKey, stored: Bins, companion: Bins): Bins
  /** Moves members into so many shards; -1: into the owner's own record. */
  reshard(owner: RecordKey, shards: number, access: SplitAccess): Promise<void>
}
