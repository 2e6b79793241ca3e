import { deletedBinOf, ARCHIVING_BIN, DELETING_BIN, type DeletedMode, type EntityModel } from '../model/index.js'
import { and, bin, binExists, eq, not, or, value, type Expression } from './expression.js'
import type { BinGuard, Guard } from './guard.js'
import type { Operation, ReadOperation } from './operation.js'
import { writeBin } from './operations.js'
import type { RecordKey } from './record-key.js'
import type { Value } from './value.js'

export type { BinGuard, Guard } from './guard.js'

/**
 * Precondition of a write: `mustNotExist` creates, `mustExist` updates, `upsert` does either,
 * `replace` does either and drops every bin the command does not write (plain bin writes only).
 */
export type Existence = 'mustNotExist' | 'mustExist' | 'upsert' | 'replace'

/** Expiry after a write: `keep` leaves it as it is, `default` takes the namespace's, `never` removes it; a number is seconds from now. */
export type Ttl = 'keep' | 'default' | 'never' | number

interface OnRecord {
  /** Name of the class, for errors, events and explain. */
  readonly entity: string
  readonly key: RecordKey
}

/** Reads one record: all bins, some bins, only whether it exists, or the results of read operations. */
export interface ReadCommand extends OnRecord {
  readonly kind: 'read'
  readonly bins: 'all' | 'none' | readonly string[]
  /** When given, `bins` is ignored: the server computes what comes back. */
  readonly operations?: readonly ReadOperation[]
  /** Condition on the record: where it does not hold, nothing comes back, as if there were no such record. */
  readonly filter?: Expression
  /** Lists and maps come as the bytes they are stored in. */
  readonly raw?: true
}

export interface WriteCommand extends OnRecord {
  readonly kind: 'write'
  readonly operations: readonly Operation[]
  /** Bins of a write that sets bins and does nothing else. */
  readonly bins?: Bins
  readonly exists: Existence
  readonly guards: readonly Guard[]
  readonly ttl: Ttl
  /** The record's generation must be this one. Such a write goes alone, never in a batch. */
  readonly generation?: number
  /** Store the user key with the record. */
  readonly sendKey: boolean
  /** Reads the record's size along with a write that may grow it, for the warning limit. */
  readonly watchSize: boolean
  /** Asks for the generation after the write; a plain write without it takes a cheaper call. */
  readonly watchGeneration: boolean
}

export interface DeleteCommand extends OnRecord {
  readonly kind: 'delete'
  /** Reads that run before the record is deleted; their results come back. */
  readonly operations: readonly ReadOperation[]
  readonly guards: readonly Guard[]
  readonly generation?: number
  /** Leaves a tombstone; undefined: as the namespace requires. Deletes inside a transaction always do. */
  readonly durableDelete?: boolean
}

/** A command to one record, as data: `explain()` prints it, tests compare it, the driver runs it. */
export type Command = ReadCommand | WriteCommand | DeleteCommand

const NOTHING: readonly never[] = Object.freeze([])

// Freezing takes ten times as long as making a command, so only `stage` does it, for plans that are shown. Commands are made by
// constructors: when many literals of one place have lived at once, V8 makes all later ones in the old generation.

export function read(
  entity: string,
  key: RecordKey,
  bins: ReadCommand['bins'] = 'all',
  operations?: readonly ReadOperation[],
): ReadCommand {
  return new Read(entity, key, bins, operations)
}

class Read implements ReadCommand {
  readonly kind = 'read'
  readonly entity: string
  readonly key: RecordKey
  readonly bins: ReadCommand['bins']
  readonly operations: readonly ReadOperation[] | undefined

  constructor(entity: string, key: RecordKey, bins: ReadCommand['bins'], operations?: readonly ReadOperation[]) {
    this.entity = entity
    this.key = key
    this.bins = bins
    this.operations = operations
  }
}

/** Copies a read so that it is answered only where the filter holds. */
export const onlyIf = (command: ReadCommand, filter: Expression): ReadCommand => ({ ...command, filter })

export interface WriteOptions {
  exists: Existence
  guards?: readonly Guard[]
  ttl?: Ttl
  generation?: number
  sendKey?: boolean
  watchSize?: boolean
  watchGeneration?: boolean
}

export function write(
  entity: string,
  key: RecordKey,
  operations: readonly Operation[],
  options: WriteOptions,
): WriteCommand {
  return new OperationsWrite(entity, key, operations, options)
}

class OperationsWrite implements WriteCommand {
  readonly kind = 'write'
  readonly entity: string
  readonly key: RecordKey
  readonly operations: readonly Operation[]
  readonly exists: Existence
  readonly guards: readonly Guard[]
  readonly ttl: Ttl
  readonly generation: number | undefined
  readonly sendKey: boolean
  readonly watchSize: boolean
  readonly watchGeneration: boolean

  constructor(entity: string, key: RecordKey, operations: readonly Operation[], options: WriteOptions) {
    this.entity = entity
    this.key = key
    this.operations = operations
    this.exists = options.exists
    this.guards = options.guards ?? NOTHING
    this.ttl = options.ttl ?? (options.exists === 'mustExist' ? 'keep' : 'default')
    this.generation = options.generation
    this.sendKey = options.sendKey ?? false
    this.watchSize = options.watchSize ?? false
    this.watchGeneration = options.watchGeneration ?? false
  }
}

interface DeleteOptions {
  operations?: readonly ReadOperation[]
  guards?: readonly Guard[]
  generation?: number
  durableDelete?: boolean
}

export function remove(entity: string, key: RecordKey, options: DeleteOptions = {}): DeleteCommand {
  return new Removal(entity, key, options)
}

class Removal implements DeleteCommand {
  readonly kind = 'delete'
  readonly entity: string
  readonly key: RecordKey
  readonly operations: readonly ReadOperation[]
  readonly guards: readonly Guard[]
  readonly generation: number | undefined
  readonly durableDelete: boolean | undefined

  constructor(entity: string, key: RecordKey, options: DeleteOptions) {
    this.entity = entity
    this.key = key
    this.operations = options.operations ?? NOTHING
    this.guards = options.guards ?? NOTHING
    this.generation = options.generation
    this.durableDelete = options.durableDelete
  }
}

export const versionIs = (bin: string, expected: number | null): Guard =>
  Object.freeze({ kind: 'version', bin, expected })
export const binEquals = (bin: string, expected: BinGuard['expected'], meaning?: string): BinGuard =>
  Object.freeze({ kind: 'binEquals', bin, expected, ...(meaning !== undefined && { meaning }) })
/** Requires that the record is the home of the members that the command is about. */
export const homeSays = (bin: string, expected: number | null, meaning?: string): BinGuard =>
  Object.freeze({ ...binEquals(bin, expected, meaning), isOfHome: true })
export const holds = (expression: Expression): Guard => Object.freeze({ kind: 'filter', expression })
export const goneUnless = (expression: Expression): Guard =>
  Object.freeze({ kind: 'filter', expression, isGoneUnless: true })

/** The bins of a record as they come back. */
export type Bins = { readonly [bin: string]: Value | undefined }

const NO_GUARDS: readonly Guard[] = Object.freeze([])

/**
 * A write that sets bins and does nothing else, as creating a record is. It holds the bins as they are sent; the operations that say
 * the same are made only for those who look at them, because ten of them cost more than all else in a save.
 */
class BinsWrite implements WriteCommand {
  readonly kind = 'write'
  readonly entity: string
  readonly key: RecordKey
  readonly bins: Bins
  readonly exists: Existence
  readonly ttl: Ttl
  readonly sendKey: boolean
  readonly watchSize: boolean
  readonly watchGeneration: boolean
  #operations: readonly Operation[] | undefined

  constructor(entity: string, key: RecordKey, bins: Bins, options: WriteOptions) {
    this.entity = entity
    this.key = key
    this.bins = bins
    this.exists = options.exists
    this.ttl = options.ttl ?? 'default'
    this.sendKey = options.sendKey ?? false
    this.watchSize = options.watchSize ?? false
    this.watchGeneration = options.watchGeneration ?? false
  }

  get guards(): readonly Guard[] {
    return NO_GUARDS
  }

  get generation(): undefined {
    return undefined
  }

  get operations(): readonly Operation[] {
    return (this.#operations ??= operationsOf(this.bins))
  }
}

export const writeBins = (entity: string, key: RecordKey, bins: Bins, options: WriteOptions): WriteCommand =>
  new BinsWrite(entity, key, bins, options)

function operationsOf(bins: Bins): Operation[] {
  return Object.keys(bins).map((bin) => writeBin(bin, bins[bin] as Value))
}

const notDeleting = not(binExists(DELETING_BIN))
/** Guard of a write: a record whose cascading delete has begun counts as gone. */
export const NOT_DELETING = goneUnless(notDeleting)
const softly = new WeakMap<EntityModel, Guard>()

/** The delete of the record has not begun, and it was not deleted softly. */
export function stillThere(model: EntityModel, deleted?: DeletedMode): Expression {
  const shown = shownBy(model, deleted)
  return shown === undefined ? notDeleting : and(notDeleting, shown)
}

/** Condition on a record of a class with soft deletes; undefined where none is needed. */
export function shownBy(model: EntityModel, deleted: DeletedMode | undefined): Expression | undefined {
  const bin = deletedBinOf(model)
  if (bin === undefined || deleted === 'include') return undefined
  return deleted === 'only' ? binExists(bin) : not(binExists(bin))
}

/** A record whose delete has begun, or that was deleted softly, counts as gone: it takes no new references. */
export function whileThere(model: EntityModel): Guard {
  if (model.deletedAt === undefined) return NOT_DELETING
  let guard = softly.get(model)
  if (guard === undefined) softly.set(model, (guard = softGuard(model)))
  return guard
}

const NONE: readonly Guard[] = Object.freeze([])
const NOT_ARCHIVING: readonly Guard[] = Object.freeze([goneUnless(not(binExists(ARCHIVING_BIN)))])

/** Guards of a write that lets members in or out: a record that is being archived counts as gone, because its companions are on their way. */
export const whileOpen = ({ archive }: EntityModel): readonly Guard[] => (archive === undefined ? NONE : NOT_ARCHIVING)

const classes = new WeakMap<EntityModel, readonly Guard[]>()

/** Guards of a write to a record that was not read: another class of the set may have a record under the key. */
export function whileOfClass(model: EntityModel): readonly Guard[] {
  if (model.discriminator === undefined) return NONE
  let guards = classes.get(model)
  if (guards === undefined) classes.set(model, (guards = Object.freeze([classGuard(model.discriminator)])))
  return guards
}

/** Condition of a read that must be of this class; undefined where the set has one class. */
export function ofClass(model: EntityModel): Expression | undefined {
  const [guard] = whileOfClass(model)
  return guard?.kind === 'filter' ? guard.expression : undefined
}

function classGuard({ bin: name, subclasses }: NonNullable<EntityModel['discriminator']>): Guard {
  const isOne = subclasses.map((one) => eq(bin(typeof one.value === 'string' ? 'str' : 'int', name), value(one.value)))
  const expression = isOne.length === 1 ? isOne[0] : or(...isOne)
  return Object.freeze({ kind: 'filter', expression, isOfClass: true })
}

function softGuard(model: EntityModel): Guard {
  const ifRemoved = { bin: deletedBinOf(model)!, guard: NOT_DELETING }
  return Object.freeze({ kind: 'filter', expression: stillThere(model), isGoneUnless: true, ifRemoved })
}
