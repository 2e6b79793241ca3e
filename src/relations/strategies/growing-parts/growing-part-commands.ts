import type { EntityModel } from '../../../model/index.js'
import { holds, type WriteCommand } from '../../../plan/command.js'
import { bin, eq, mapCountOf, value } from '../../../plan/expression.js'
import type { WriteOperation } from '../../../plan/operation.js'
import { listAppendUnique } from '../../../plan/operations.js'
import { recordId, type RecordKey, type UserKey } from '../../../plan/record-key.js'
import { GrowingCommands } from '../../growth/growing-commands.js'
import type { GrowingScheme } from '../../growth/growing-scheme.js'
import type { Move, Placement, Shards } from '../../growth/placement.js'
import { NOT_MARKED } from '../../write/companion-commands.js'
import type { LinkEntry } from '../../write/link-bin.js'
import {
  partCreation,
  partPuts,
  partRemoval,
  transferred,
  type TransferredPart,
} from '../companion-parts/part-transfer.js'
import type { PartChanges } from '../consolidate/part-changes.js'
import type { PartClass } from '../consolidate/part-class.js'
import { partBin } from './part-bin.js'

/** Commands to the records that may hold children: a child has entries in several bins, which come and go together. */
export class GrowingPartCommands extends GrowingCommands {
  readonly #parts: PartClass

  constructor(model: EntityModel, parts: PartClass, scheme: GrowingScheme) {
    super(model, parts.relation, partBin(parts), scheme)
    this.#parts = parts
  }

  /** Changes of children in one record. While members move, it notes those that must not come. */
  write(
    owner: RecordKey,
    home: RecordKey,
    placement: Placement,
    changes: PartChanges,
    removed: readonly UserKey[],
    isInside = false,
    isOwnerNew = false,
  ): WriteCommand {
    const isNoted = placement.move?.phase === 'move' && removed.length > 0
    const notes = isNoted ? [listAppendUnique(this.scheme.bins.gone, removed)] : []
    const command = this.change([...changes.operations(), ...notes], home, placement, isInside)
    const isOpen = recordId(home) === recordId(owner) ? this.takesMembers(isOwnerNew) : [NOT_MARKED]
    const guards = [...(changes.isRemoval ? [] : isOpen), ...command.guards, ...changes.guards]
    return { ...command, guards, watchSize: !changes.isRemoval }
  }

  override create(
    owner: RecordKey,
    home: RecordKey,
    shard: number | undefined,
    shards: Shards,
    joined?: number,
  ): WriteCommand {
    const command = super.create(owner, home, shard, shards, joined)
    const [, ...about] = command.operations
    return { ...command, operations: [...partCreation(this.#parts), ...about] }
  }

  override arrivals(_home: RecordKey, entries: readonly LinkEntry[]): readonly WriteOperation[] {
    return partPuts(this.#parts, this.#transferred(entries))
  }

  /** A child that is there already is newer than the copy. */
  override copy(home: RecordKey, entries: readonly LinkEntry[], move: Move): WriteCommand {
    const { relation, bin: name } = this.#parts
    const ids = entries.map(([id]) => id)
    const areNew = holds(eq(mapCountOf(bin('map', relation.sortKeyBin ?? name), ids), value(0)))
    const command = super.copy(home, entries, move)
    return { ...command, guards: [...command.guards, areNew] }
  }

  override takeFrom(
    home: RecordKey,
    members: readonly UserKey[],
    move?: Move,
    entries: readonly LinkEntry[] = [],
  ): WriteCommand {
    const operations = partRemoval(this.#parts, this.#transferred(entries))
    return { ...super.takeFrom(home, members, move), operations }
  }

  #transferred(entries: readonly LinkEntry[]): readonly TransferredPart[] {
    return entries.map(([, child]) => transferred(this.#parts, child!))
  }
}
