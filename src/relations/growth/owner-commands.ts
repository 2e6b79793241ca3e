import type { EntityModel, RelationModel } from '../../model/index.js'
import {
  binEquals,
  holds,
  homeSays,
  whileOpen,
  whileThere,
  write,
  type Guard,
  type WriteCommand,
} from '../../plan/command.js'
import { bin, eq, listCount, value } from '../../plan/expression.js'
import type { Operation } from '../../plan/operation.js'
import { listCreate, readExpression, removeBin, touch, writeBin } from '../../plan/operations.js'
import type { Outcome } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import { NOT_MARKED } from '../write/companion-commands.js'
import type { GrowingScheme } from './growing-scheme.js'
import { describeShards, ROOT, type ChangeKind, type Move, type Shards } from './placement.js'

/** Commands to the owner's record, which says where its members are and which move is under way. */
export class OwnerCommands {
  readonly model: EntityModel
  readonly property: string
  /** Commands of one bin may be merged; their guards must not decide about other changes of the record. */
  readonly group: string
  protected readonly scheme: GrowingScheme
  /** Holds of an owner whose members are in its own record. */
  protected readonly isInRoot: Guard
  readonly #answer: string

  constructor(model: EntityModel, relation: RelationModel, scheme: GrowingScheme) {
    this.model = model
    this.property = relation.name
    this.group = relation.bin!
    this.scheme = scheme
    this.isInRoot = homeSays(scheme.bins.subkeys, null)
    this.#answer = `_sk.at${relation.index}.`
  }

  /** Asks the owner where its members are; refused where it is gone. One that was deleted softly has members still, and takes no new ones. */
  ask(owner: RecordKey, kind: ChangeKind): WriteCommand {
    return this.asking(this.hold(owner, kind))
  }

  hold(owner: RecordKey, kind: ChangeKind): WriteCommand {
    const isThere = kind === 'add' ? whileThere(this.model) : NOT_MARKED
    return this.update(owner, [touch()], { guards: [isThere, ...whileOpen(this.model)] })
  }

  /** Copies the command so that it also reads where the owner's members are. */
  asking(command: WriteCommand): WriteCommand {
    return { ...command, operations: [...command.operations, ...this.#questions()] }
  }

  /** Bins of the owner's record, in the answer to `ask` and `asking`. */
  told({ bins }: Outcome): { readonly [bin: string]: Value | undefined } {
    return Object.fromEntries(this.scheme.names.map((name, i) => [name, bins[this.#answer + i]]))
  }

  /** Notes in the owner's record that a move begins; one that is being archived takes its members along as they are. */
  begin(owner: RecordKey, { id, from, to, reason }: Move): WriteCommand {
    const { subkeys, move, split } = this.scheme.bins
    const isThere = from === 0 ? 'companion' : from
    return this.update(owner, [writeBin(move, id), writeBin(split, [from, to, 'prepare', reason])], {
      guards: [
        whileThere(this.model),
        ...whileOpen(this.model),
        binEquals(move, null),
        from === ROOT ? this.isInRoot : holds(eq(listCount(bin('list', subkeys), isThere), value(1))),
      ],
    })
  }

  /** Keeps others from an owner in a transaction, as long as no move is under way, and asks it; the answer also says where its members are. */
  lockOwner(owner: RecordKey, questions: readonly Operation[]): WriteCommand {
    const guards = [whileThere(this.model), ...whileOpen(this.model), binEquals(this.scheme.bins.move, null)]
    return this.asking(this.update(owner, [touch(), ...questions], { guards }))
  }

  /** Says in the owner's record where its members are, in a transaction that has moved them. */
  settled(owner: RecordKey, operations: readonly Operation[], to: Shards): WriteCommand {
    const { subkeys } = this.scheme.bins
    const says = to === ROOT ? removeBin(subkeys) : writeBin(subkeys, describeShards(to))
    return this.update(owner, [...operations, says])
  }

  /** From now on all writes go to the new homes. */
  open(owner: RecordKey, { id, from, to, reason }: Move): WriteCommand {
    const { subkeys, move, split, gone } = this.scheme.bins
    const operations = [
      writeBin(split, [from, to, 'move', reason]),
      // Kept until the end where members come back: writers that know of no move stay out.
      to === ROOT ? listCreate(gone, 'ordered', false) : writeBin(subkeys, describeShards(to)),
    ]
    return this.update(owner, operations, {
      guards: [
        // Works also for an owner that was deleted softly: a restore finds its members wherever they are.
        NOT_MARKED,
        binEquals(move, id),
        holds(eq(listCount(bin('list', split), 'prepare'), value(1))),
      ],
    })
  }

  /** The move is over. */
  end(owner: RecordKey, { id, to }: Move): WriteCommand {
    const { subkeys, move, split, gone } = this.scheme.bins
    const isBack = to === ROOT
    const operations = [removeBin(move), removeBin(split), ...(isBack ? [removeBin(gone), removeBin(subkeys)] : [])]
    return this.update(owner, operations, { guards: [binEquals(move, id)] })
  }

  #questions(): readonly Operation[] {
    const { subkeys, move, split } = this.scheme.bins
    return [bin('list', subkeys), bin('int', move), bin('list', split)].map((asked, i) =>
      readExpression(this.#answer + i, asked),
    )
  }

  protected update(
    key: RecordKey,
    operations: readonly Operation[],
    options: { readonly guards?: readonly Guard[]; readonly watchSize?: boolean } = {},
  ): WriteCommand {
    return write(this.model.name, key, operations, { exists: 'mustExist', ttl: 'keep', ...options })
  }
}
