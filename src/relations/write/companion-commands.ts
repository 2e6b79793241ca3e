import { hashShard } from '../../keys/index.js'
import {
  COMPANION_ROOT_BIN,
  COMPANION_SHARD_BIN,
  COMPANION_SHARDS_BIN,
  DELETING_BIN,
  type EntityModel,
} from '../../model/index.js'
import {
  NOT_DELETING,
  holds,
  remove,
  whileOpen,
  whileThere,
  write,
  type Bins,
  type DeleteCommand,
  type WriteCommand,
} from '../../plan/command.js'
import { bin, binExists, not } from '../../plan/expression.js'
import type { WriteOperation } from '../../plan/operation.js'
import { readExpression, removeBin, writeBin, writeMissingBin } from '../../plan/operations.js'
import type { Outcome } from '../../plan/outcome.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { StoredMember } from '../contract/member-store.js'
import type { CompanionScheme, Shards } from './companion-scheme.js'
import { takenOut, type LinkBin } from './link-bin.js'

/** Unlike an owner that is being deleted, a companion that is marked does not yet say that the owner is gone. */
export const NOT_MARKED = holds(not(binExists(DELETING_BIN)))

/** Commands that close the records of members, whichever way those are spread over them. */
export interface HomeCommands {
  /** Copies the command to an owner so that it also reads where its members are. */
  asking(command: WriteCommand): WriteCommand
  /** Bins of the owner's record, in the answer to that. */
  told(outcome: Outcome): Bins
  mark(home: RecordKey): WriteCommand
  unmark(home: RecordKey): WriteCommand
  drop(home: RecordKey): DeleteCommand
}

/** Commands to companion records, each guarded by what the companion says of itself, and to their owners. */
export class CompanionCommands implements HomeCommands {
  readonly model: EntityModel
  readonly #bin: string
  readonly #layout: LinkBin
  readonly #scheme: CompanionScheme
  readonly #answer: string

  constructor(model: EntityModel, bin: string, index: number, layout: LinkBin, scheme: CompanionScheme) {
    this.model = model
    this.#bin = bin
    this.#layout = layout
    this.#scheme = scheme
    // A subclass has the relations of its base in the same places, and the other side may know the owner as one of the base.
    this.#answer = `_sk.subkeys${model.relations.findIndex((relation) => relation.index === index)}`
  }

  /** Adds to a companion that is there. */
  put(at: StoredMember, home: RecordKey, shards: Shards): WriteCommand {
    const { ended } = this.#layout
    const entry = this.#entry(at, home)
    return write(this.model.name, home, ended === undefined ? [entry] : [entry, ended.forget([at.member])], {
      exists: 'mustExist',
      ttl: 'keep',
      guards: [this.#scheme.isOneOf(shards), NOT_MARKED],
      watchSize: true,
    })
  }

  /** Makes the companion, with its first member. It must outlive its owner's expiry, which may be put off at any time. */
  create(at: StoredMember, home: RecordKey, shards: Shards): WriteCommand {
    const operations = [
      this.#layout.create(this.#bin),
      writeBin(COMPANION_ROOT_BIN, at.owner.key),
      writeBin(COMPANION_SHARDS_BIN, shards),
      ...(shards === 0 ? [] : [writeBin(COMPANION_SHARD_BIN, hashShard(at.member, shards))]),
      this.#entry(at, home),
    ]
    return write(this.model.name, home, operations, { exists: 'mustNotExist', ttl: 'never', watchSize: true })
  }

  /** Takes out, also of a companion that is marked; with `endedAt` the links stay among those that were ended. */
  take(home: RecordKey, members: readonly UserKey[], shards: Shards, endedAt?: number | null): WriteCommand {
    return this.change(home, takenOut(this.#layout, this.#bin, members, endedAt), shards)
  }

  change(home: RecordKey, operations: readonly WriteOperation[], shards: Shards): WriteCommand {
    const guards = [this.#scheme.isOneOf(shards)]
    return write(this.model.name, home, operations, { exists: 'mustExist', ttl: 'keep', guards })
  }

  /** Tells an owner how its members are stored, unless it knows, and asks what it says; `made` are companions that are about to be made. */
  tell(owner: RecordKey, shards: Shards, _made?: readonly RecordKey[]): WriteCommand {
    const { subkeys } = this.#scheme
    return write(
      this.model.name,
      owner,
      [writeMissingBin(subkeys, this.#scheme.describe(shards)), readExpression(this.#answer, bin('list', subkeys))],
      { exists: 'mustExist', ttl: 'keep', guards: [NOT_DELETING, ...whileOpen(this.model)] },
    )
  }

  /** Copies the command so that an owner that was deleted softly refuses it: it takes no new members. */
  admitting(tell: WriteCommand): WriteCommand {
    return { ...tell, guards: [whileThere(this.model), ...whileOpen(this.model)] }
  }

  /**
   * Tells the owner of an add inside a transaction, which may create the owner's record. What it says was read before: a question in each of
   * several such commands would hide the answers to the others.
   */
  telling({ owner, isOwnerMade }: StoredMember, shards: Shards, made?: readonly RecordKey[]): WriteCommand {
    const told = this.tell(owner, shards, made)
    const tell = this.admitting({
      ...told,
      operations: told.operations.filter(({ kind }) => kind !== 'readExpression'),
    })
    return isOwnerMade === true ? { ...tell, exists: 'upsert' } : tell
  }

  /** Bins of the owner's record, in the answer to `tell` and `asking`. */
  told({ bins }: Outcome): Bins {
    return { [this.#scheme.subkeys]: bins[this.#answer] }
  }

  /** Copies the command so that it also reads what the owner says. */
  asking(command: WriteCommand): WriteCommand {
    const question = readExpression(this.#answer, bin('list', this.#scheme.subkeys))
    return { ...command, operations: [...command.operations, question] }
  }

  mark(home: RecordKey): WriteCommand {
    return write(this.model.name, home, [writeBin(DELETING_BIN, true)], { exists: 'mustExist', ttl: 'keep' })
  }

  unmark(home: RecordKey): WriteCommand {
    return write(this.model.name, home, [removeBin(DELETING_BIN)], { exists: 'mustExist', ttl: 'keep' })
  }

  drop(home: RecordKey): DeleteCommand {
    return remove(this.model.name, home, { durableDelete: this.model.durableDelete })
  }

  #entry({ member, attributes }: StoredMember, home: RecordKey): WriteOperation {
    return this.#layout.put({ model: this.model, key: home, bin: this.#bin }, member, attributes)
  }
}
