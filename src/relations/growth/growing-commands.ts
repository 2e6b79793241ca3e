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
  whileOpen,
  whileThere,
  write,
  type DeleteCommand,
  type Guard,
  type WriteCommand,
} from '../../plan/command.js'
import { bin, eq, listCountOf, listSize, mapSize, or, value, type Expression } from '../../plan/expression.js'
import type { Operation, WriteOperation } from '../../plan/operation.js'
import { listAppendUnique, listCreate, removeBin, touch, writeBin } from '../../plan/operations.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { StoredMember } from '../contract/member-store.js'
import { NOT_MARKED } from '../write/companion-commands.js'
import type { EndedLink } from '../contract/ended-entries.js'
import { takenOut, type LinkBin, type LinkEntry } from '../write/link-bin.js'
import type { GrowingScheme } from './growing-scheme.js'
import { OwnerCommands } from './owner-commands.js'
import { MOVING, newId, ROOT, type Joined, type Move, type Placement, type Shards } from './placement.js'
import { hasNoneEnded, lacksLinks } from './stored-links.js'

/** Commands to the records that may hold members, each guarded by what the record says of itself. */
export class GrowingCommands extends OwnerCommands {
  readonly #bin: string
  readonly #layout: LinkBin

  constructor(model: EntityModel, relation: RelationModel, layout: LinkBin, scheme: GrowingScheme) {
    super(model, relation, scheme)
    this.#bin = relation.bin!
    this.#layout = layout
  }

  /** Puts a member into its home; inside a transaction that has read the home, the home is as it was. */
  put(at: StoredMember, home: RecordKey, placement: Placement, isInside = false): WriteCommand {
    const isRoot = recordId(home) === recordId(at.owner)
    const { ended } = this.#layout
    const entry = this.#entry(at, home)
    const mayBeDeleted = at.isOwnerNew === true || at.isRepair === true
    return this.update(home, ended === undefined ? [entry] : [entry, ended.forget([at.member])], {
      guards: [...(isRoot ? this.takesMembers(mayBeDeleted) : [NOT_MARKED]), ...this.#guards(placement, isInside)],
      watchSize: true,
    })
  }

  /** Conditions of an add beyond those of its home. */
  conditionsOf(_member: UserKey): readonly Expression[] {
    return []
  }

  /** The owner takes new members. A new one may have been saved as deleted, with its members. */
  protected takesMembers(mayBeDeleted: boolean): readonly Guard[] {
    return [mayBeDeleted ? NOT_DELETING : whileThere(this.model), ...whileOpen(this.model)]
  }

  /**
   * Takes members out, also of a record that is marked; with `endedAt` the links stay among those that were ended. While members move, it
   * notes that they must not come.
   */
  take(
    members: readonly UserKey[],
    home: RecordKey,
    placement: Placement,
    isInside = false,
    endedAt?: number | null,
  ): WriteCommand {
    const { gone } = this.scheme.bins
    const notes = placement.move?.phase === 'move' ? [listAppendUnique(gone, members)] : []
    return this.change([...takenOut(this.#layout, this.#bin, members, endedAt), ...notes], home, placement, isInside)
  }

  change(operations: readonly Operation[], home: RecordKey, placement: Placement, isInside = false): WriteCommand {
    return this.update(home, operations, { guards: this.#guards(placement, isInside) })
  }

  /** Takes members out of a record that they do not belong in. */
  takeFrom(home: RecordKey, members: readonly UserKey[], move?: Move, _entries?: readonly LinkEntry[]): WriteCommand {
    const guards = move === undefined ? [] : [binEquals(this.scheme.bins.move, move.id)]
    return this.update(home, takenOut(this.#layout, this.#bin, members), { guards })
  }

  /** Keeps others from a companion in a transaction. */
  lock(home: RecordKey, shards: Shards, questions: readonly Operation[]): WriteCommand {
    return this.update(home, [touch(), ...questions], { guards: [binEquals(COMPANION_SHARDS_BIN, shards), NOT_MARKED] })
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
    const { move, gone } = this.scheme.bins
    const operations = [
      writeBin(COMPANION_SHARDS_BIN, MOVING),
      writeBin(COMPANION_JOINED_BIN, id),
      writeBin(move, id),
      removeBin(gone),
      listCreate(gone, 'ordered', false),
    ]
    return this.update(home, operations, { guards: [binEquals(COMPANION_JOINED_BIN, joined), NOT_MARKED] })
  }

  /** Opens a companion that takes part in no move. */
  reopen(home: RecordKey, shards: Shards, joined: Joined): WriteCommand {
    const { move, gone } = this.scheme.bins
    const operations = [writeBin(COMPANION_SHARDS_BIN, shards), removeBin(move), removeBin(gone)]
    return this.update(home, operations, {
      guards: [binEquals(COMPANION_JOINED_BIN, joined), binEquals(COMPANION_SHARDS_BIN, MOVING)],
    })
  }

  /** Deletes a companion that an earlier owner has left behind, as it was read. */
  dropStray(home: RecordKey, generation: number): DeleteCommand {
    return remove(this.model.name, home, { generation, durableDelete: this.model.durableDelete })
  }

  /** Puts members into a record that does not have them. */
  arrivals(home: RecordKey, entries: readonly LinkEntry[]): readonly WriteOperation[] {
    const linked = entries.filter(([, , kind]) => kind === undefined)
    const ended = entries.filter(([, , kind]) => kind === 'ended')
    return [
      ...(linked.length === 0 ? [] : this.#layout.copy({ model: this.model, key: home, bin: this.#bin }, linked)),
      ...ended.map(([key, link]) => this.#layout.ended!.copy(key, link as EndedLink)),
    ]
  }

  /** Copies members to their new home, unless they were taken out there. */
  copy(home: RecordKey, entries: readonly LinkEntry[], { id }: Move): WriteCommand {
    const { move, gone } = this.scheme.bins
    const { ended } = this.#layout
    const keys = entries.map(([key]) => key)
    return this.update(home, this.arrivals(home, entries), {
      guards: [
        binEquals(move, id),
        NOT_MARKED,
        holds(eq(listCountOf(bin('list', gone), keys), value(0))),
        // A link that was made again, or ended, at its new home is newer than the copy.
        ...(ended === undefined ? [] : lacksLinks([this.#bin, ended.name], keys)),
      ],
    })
  }

  /** The companion is complete. */
  leave(home: RecordKey, { id, to }: Move): WriteCommand {
    const { move, gone } = this.scheme.bins
    const operations = [writeBin(COMPANION_SHARDS_BIN, to), removeBin(move), removeBin(gone)]
    return this.update(home, operations, { guards: [binEquals(move, id)] })
  }

  /** Deletes a companion that was made for nothing, as long as it is empty and has taken part in no other move than this. */
  dropMade(home: RecordKey, joined: number, move?: Move): DeleteCommand {
    const isAsMade = [joined, ...(move === undefined ? [] : [move.id])].map((id) =>
      eq(bin('int', COMPANION_JOINED_BIN), value(id)),
    )
    return this.#remove(home, [holds(isAsMade.length === 1 ? isAsMade[0] : or(...isAsMade)), ...this.#isEmpty()])
  }

  dropEmptied(home: RecordKey, { id }: Move): DeleteCommand {
    return this.#remove(home, [binEquals(this.scheme.bins.move, id)])
  }

  mark(home: RecordKey): WriteCommand {
    return this.update(home, [writeBin(DELETING_BIN, true)])
  }

  unmark(home: RecordKey): WriteCommand {
    return this.update(home, [removeBin(DELETING_BIN)])
  }

  drop(home: RecordKey): DeleteCommand {
    return this.#remove(home)
  }

  #isEmpty(): readonly Guard[] {
    const { reads, ended } = this.#layout
    const size = reads.isList ? listSize(bin('list', this.#bin)) : mapSize(bin('map', this.#bin))
    return [holds(eq(size, value(0))), ...(ended === undefined ? [] : [hasNoneEnded(ended.name)])]
  }

  #guards({ shards, move }: Placement, isInside: boolean): readonly Guard[] {
    if (isInside) return []
    if (move?.phase === 'move') return [homeSays(this.scheme.bins.move, move.id)]
    return [shards === ROOT ? this.isInRoot : homeSays(COMPANION_SHARDS_BIN, shards)]
  }

  #entry({ member, attributes }: StoredMember, home: RecordKey): WriteOperation {
    return this.#layout.put({ model: this.model, key: home, bin: this.#bin }, member, attributes)
  }

  #remove(key: RecordKey, guards: readonly Guard[] = []): DeleteCommand {
    return remove(this.model.name, key, { guards, durableDelete: this.model.durableDelete })
  }
}
