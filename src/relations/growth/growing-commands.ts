import {
  COMPANION_JOINED_BIN,
  COMPANION_ROOT_BIN,
  COMPANION_SHARD_BIN,
  COMPANION_SHARDS_BIN,
  DELETING_BIN,
  type EntityModel,
  type RelationModel,
} from '../../model/index.js'
import {
  binEquals,
  holds,
  homeSays,
  remove,
  NOT_DELETING,
  whileThere,
  write,
  type DeleteCommand,
  type Guard,
  type WriteCommand,
} from '../../plan/command.js'
import { bin, binExists, eq, listCount, listCountOf, listSize, mapSize, not, or, value } from '../../plan/expression.js'
import type { Operation, WriteOperation } from '../../plan/operation.js'
import { listAppendUnique, listCreate, readExpression, removeBin, touch, writeBin } from '../../plan/operations.js'
import type { Outcome } from '../../plan/outcome.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'

import type { Value } from '../../plan/value.js'
import type { StoredMember } from '../contract/member-store.js'
import type { LinkBin, LinkEntry } from '../write/link-bin.js'
import type { GrowingScheme } from './growing-scheme.js'
import {
  describeShards,
  MOVING,
  newId,
  ROOT,
  type ChangeKind,
  type Joined,
  type Move,
  type Placement,
  type Shards,
} from './placement.js'

/** Neither a companion that is marked nor its owner says yet that the owner is gone: the delete may be called off. */
const NOT_MARKED = holds(not(binExists(DELETING_BIN)))

/** Commands to the records that may hold members, each guarded by what the record says of itself. */
export class GrowingCommands {
  readonly model: EntityModel
  readonly property: string
  readonly #bin: string
  readonly #layout: LinkBin
  readonly #scheme: GrowingScheme
  readonly #answer: string
  /** Holds of an owner whose members are in its own record. */
  readonly #isInRoot: Guard

  constructor(model: EntityModel, relation: RelationModel, layout: LinkBin, scheme: GrowingScheme) {
    this.model = model
    this.property = relation.name
    this.#bin = relation.bin!
    this.#layout = layout
    this.#scheme = scheme
    this.#answer = `_sk.at${relation.index}.`
    this.#isInRoot = holds(not(binExists(scheme.bins.subkeys)))
  }

  /** Puts a member into its home; inside a transaction that has read the home, the home is as it was. */
  put(at: StoredMember, home: RecordKey, placement: Placement, isInside = false): WriteCommand {
    const isRoot = recordId(home) === recordId(at.owner)
    return this.#write(home, [this.#entry(at, home)], {
      guards: [isRoot ? this.takesMembers(at.isOwnerNew === true) : NOT_MARKED, ...this.#guards(placement, isInside)],
      watchSize: true,
    })
  }

  /** The owner takes new members. A new one may have been saved as deleted, with its members. */
  protected takesMembers(isOwnerNew: boolean): Guard {
    return isOwnerNew ? NOT_DELETING : whileThere(this.model)
  }

  /** Takes members out, also of a record that is marked. While members move, it notes that they must not come. */
  take(members: readonly UserKey[], home: RecordKey, placement: Placement, isInside = false): WriteCommand {
    const { gone } = this.#scheme.bins
    const notes = placement.move?.phase === 'move' ? [listAppendUnique(gone, members)] : []
    return this.change([this.#layout.take(this.#bin, members), ...notes], home, placement, isInside)
  }

  change(operations: readonly Operation[], home: RecordKey, placement: Placement, isInside = false): WriteCommand {
    return this.#write(home, operations, { guards: this.#guards(placement, isInside) })
  }

  /** Takes members out of a record that they do not belong in. */
  takeFrom(home: RecordKey, members: readonly UserKey[], move?: Move, _entries?: readonly LinkEntry[]): WriteCommand {
    const guards = move === undefined ? [] : [binEquals(this.#scheme.bins.move, move.id)]
    return this.#write(home, [this.#layout.take(this.#bin, members)], { guards })
  }

  /** Asks the owner where its members are; refused where it is gone. One that was deleted softly has members still, and takes no new ones. */
  ask(owner: RecordKey, kind: ChangeKind): WriteCommand {
    return this.asking(this.hold(owner, kind))
  }

  hold(owner: RecordKey, kind: ChangeKind): WriteCommand {
    return this.#write(owner, [touch()], { guards: [kind === 'add' ? whileThere(this.model) : NOT_MARKED] })
  }

  /** Copies the command so that it also reads where the owner's members are. */
  asking(command: WriteCommand): WriteCommand {
    return { ...command, operations: [...command.operations, ...this.#questions()] }
  }

  /** Bins of the owner's record, in the answer to `ask` and `asking`. */
  told({ bins }: Outcome): { readonly [bin: string]: Value | undefined } {
    return Object.fromEntries(this.#scheme.names.map((name, i) => [name, bins[this.#answer + i]]))
  }

  /** Notes in the owner's record that a move begins. */
  begin(owner: RecordKey, { id, from, to, reason }: Move): WriteCommand {
    const { subkeys, move, split } = this.#scheme.bins
    const isThere = from === 0 ? 'companion' : from
    return this.#write(owner, [writeBin(move, id), writeBin(split, [from, to, 'prepare', reason])], {
      guards: [
        whileThere(this.model),
        binEquals(move, null),
        from === ROOT ? this.#isInRoot : holds(eq(listCount(bin('list', subkeys), isThere), value(1))),
      ],
    })
  }

  /** Keeps others from an owner in a transaction, as long as no move is under way, and asks it; the answer also says where its members are. */
  lockOwner(owner: RecordKey, questions: readonly Operation[]): WriteCommand {
    const guards = [whileThere(this.model), binEquals(this.#scheme.bins.move, null)]
    return this.asking(this.#write(owner, [touch(), ...questions], { guards }))
  }

  /** Keeps others from a companion in a transaction. */
  lock(home: RecordKey, shards: Shards, questions: readonly Operation[]): WriteCommand {
    return this.#write(home, [touch(), ...questions], { guards: [binEquals(COMPANION_SHARDS_BIN, shards), NOT_MARKED] })
  }

  /** Says in the owner's record where its members are, in a transaction that has moved them. */
  settled(owner: RecordKey, operations: readonly Operation[], to: Shards): WriteCommand {
    const { subkeys } = this.#scheme.bins
    const says = to === ROOT ? removeBin(subkeys) : writeBin(subkeys, describeShards(to))
    return this.#write(owner, [...operations, says])
  }

  /** Makes a companion that is not there; `MOVING` keeps everybody out. It must outlive its owner's expiry, which may be put off at any time. */
  create(
    owner: RecordKey,
    home: RecordKey,
    shard: number | undefined,
    shards: Shards,
    joined: number = newId(),
  ): WriteCommand {
    const operations = [
      this.#layout.create(this.#bin),
      writeBin(COMPANION_ROOT_BIN, owner.key),
      writeBin(COMPANION_SHARDS_BIN, shards),
      writeBin(COMPANION_JOINED_BIN, joined),
      ...(shard === undefined ? [] : [writeBin(COMPANION_SHARD_BIN, shard)]),
    ]
    return write(this.model.name, home, operations, { exists: 'mustNotExist', ttl: 'never' })
  }

  /** Closes a companion to those who know only the number of shards before, as long as it has taken part in no move since it was looked at. */
  join(home: RecordKey, { id }: Move, joined: Joined): WriteCommand {
    const { move, gone } = this.#scheme.bins
    const operations = [
      writeBin(COMPANION_SHARDS_BIN, MOVING),
      writeBin(COMPANION_JOINED_BIN, id),
      writeBin(move, id),
      removeBin(gone),
      listCreate(gone, 'ordered', false),
    ]
    return this.#write(home, operations, { guards: [binEquals(COMPANION_JOINED_BIN, joined), NOT_MARKED] })
  }

  /** Opens a companion that takes part in no move. */
  reopen(home: RecordKey, shards: Shards, joined: Joined): WriteCommand {
    const { move, gone } = this.#scheme.bins
    const operations = [writeBin(COMPANION_SHARDS_BIN, shards), removeBin(move), removeBin(gone)]
    return this.#write(home, operations, {
      guards: [binEquals(COMPANION_JOINED_BIN, joined), binEquals(COMPANION_SHARDS_BIN, MOVING)],
    })
  }

  /** Deletes a companion that an earlier owner has left behind, as it was read. */
  dropStray(home: RecordKey, generation: number): DeleteCommand {
    return remove(this.model.name, home, { generation, durableDelete: this.model.durableDelete })
  }

  /** From now on all writes go to the new homes. */
  open(owner: RecordKey, { id, from, to, reason }: Move): WriteCommand {
    const { subkeys, move, split, gone } = this.#scheme.bins
    const operations = [
      writeBin(split, [from, to, 'move', reason]),
      // Kept until the end where members come back: writers that know of no move stay out.
      to === ROOT ? listCreate(gone, 'ordered', false) : writeBin(subkeys, describeShards(to)),
    ]
    return this.#write(owner, operations, {
      guards: [
        // Works also for an owner that was deleted softly: a restore finds its members wherever they are.
        NOT_MARKED,
        binEquals(move, id),
        holds(eq(listCount(bin('list', split), 'prepare'), value(1))),
      ],
    })
  }

  /** Puts members into a record that does not have them. */
  arrivals(home: RecordKey, entries: readonly LinkEntry[]): readonly WriteOperation[] {
    return this.#layout.copy({ model: this.model, key: home, bin: this.#bin }, entries)
  }

  /** Copies members to their new home, unless they were taken out there. */
  copy(home: RecordKey, entries: readonly LinkEntry[], { id }: Move): WriteCommand {
    const { move, gone } = this.#scheme.bins
    const keys = entries.map(([key]) => key)
    return this.#write(home, this.arrivals(home, entries), {
      guards: [binEquals(move, id), NOT_MARKED, holds(eq(listCountOf(bin('list', gone), keys), value(0)))],
    })
  }

  /** The companion is complete. */
  leave(home: RecordKey, { id, to }: Move): WriteCommand {
    const { move, gone } = this.#scheme.bins
    const operations = [writeBin(COMPANION_SHARDS_BIN, to), removeBin(move), removeBin(gone)]
    return this.#write(home, operations, { guards: [binEquals(move, id)] })
  }

  /** Deletes a companion that was made for nothing, as long as it is empty and has taken part in no other move than this. */
  dropMade(home: RecordKey, joined: number, move?: Move): DeleteCommand {
    const isAsMade = [joined, ...(move === undefined ? [] : [move.id])].map((id) =>
      eq(bin('int', COMPANION_JOINED_BIN), value(id)),
    )
    return this.#remove(home, [holds(isAsMade.length === 1 ? isAsMade[0] : or(...isAsMade)), this.#isEmpty()])
  }

  dropEmptied(home: RecordKey, { id }: Move): DeleteCommand {
    return this.#remove(home, [binEquals(this.#scheme.bins.move, id)])
  }

  /** The move is over. */
  end(owner: RecordKey, { id, to }: Move): WriteCommand {
    const { subkeys, move, split, gone } = this.#scheme.bins
    const isBack = to === ROOT
    const operations = [removeBin(move), removeBin(split), ...(isBack ? [removeBin(gone), removeBin(subkeys)] : [])]
    return this.#write(owner, operations, { guards: [binEquals(move, id)] })
  }

  mark(home: RecordKey): WriteCommand {
    return this.#write(home, [writeBin(DELETING_BIN, true)])
  }

  unmark(home: RecordKey): WriteCommand {
    return this.#write(home, [removeBin(DELETING_BIN)])
  }

  drop(home: RecordKey): DeleteCommand {
    return this.#remove(home)
  }

  #isEmpty(): Guard {
    const size = this.#layout.reads.isList ? listSize(bin('list', this.#bin)) : mapSize(bin('map', this.#bin))
    return holds(eq(size, value(0)))
  }

  #guards({ shards, move }: Placement, isInside: boolean): readonly Guard[] {
    if (isInside) return []
    if (move?.phase === 'move') return [homeSays(this.#scheme.bins.move, move.id)]
    return [shards === ROOT ? this.#isInRoot : homeSays(COMPANION_SHARDS_BIN, shards)]
  }

  #questions(): readonly Operation[] {
    const { subkeys, move, split } = this.#scheme.bins
    return [bin('list', subkeys), bin('int', move), bin('list', split)].map((asked, i) =>
      readExpression(this.#answer + i, asked),
    )
  }

  #entry({ member, attributes }: StoredMember, home: RecordKey): WriteOperation {
    return this.#layout.put({ model: this.model, key: home, bin: this.#bin }, member, attributes)
  }

  #write(
    key: RecordKey,
    operations: readonly Operation[],
    options: { readonly guards?: readonly Guard[]; readonly watchSize?: boolean } = {},
  ): WriteCommand {
    return write(this.model.name, key, operations, { exists: 'mustExist', ttl: 'keep', ...options })
  }

  #remove(key: RecordKey, guards: readonly Guard[] = []): DeleteCommand {
    return remove(this.model.name, key, { guards, durableDelete: this.model.durableDelete })
  }
}
