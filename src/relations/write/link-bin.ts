import { SkeinError } from '../../errors/index.js'
import { describeKey } from '../../keys/index.js'
import { DELETING_BIN, type EntityModel, type RelationModel } from '../../model/index.js'
import {
  NOT_DELETING,
  read,
  whileOfClass,
  whileOpen,
  whileThere,
  write,
  type Existence,
  type Guard,
  type WriteCommand,
  type Bins,
} from '../../plan/command.js'
import {
  bin as binOf,
  listFrom,
  listSlice,
  mapKeysFrom,
  mapKeySlice,
  type Expression,
  bin,
} from '../../plan/expression.js'
import type { Operation, ReadOperation, WriteOperation, ReadExpression } from '../../plan/operation.js'
import {
  listAppendUnique,
  listCreate,
  listGetIndexRange,
  listGetValues,
  listRemoveValues,
  listSize,
  mapCreate,
  mapGetIndexRange,
  mapGetKeys,
  mapPut,
  mapPutMissing,
  mapRemoveKeys,
  mapSize,
  readBin,
  readExpression,
  touch,
} from '../../plan/operations.js'
import type { Settle } from '../../plan/draft.js'
import type { Outcome } from '../../plan/outcome.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { MemberQuestion } from '../contract/member-store.js'
import { mergeKeys } from './compare-keys.js'
import type { EndedBin } from './ended-bin.js'
import type { KeysReads } from './keys-members.js'
import { expressionType } from './expression-type.js'

/** The record that a link is stored in, and the bin there. */
export interface LinkEnd {
  readonly model: EntityModel
  readonly key: RecordKey
  readonly bin: string
}

/** Key of a member, and what its link carries; of a link that was ended, that and the time. */
export type LinkEntry = readonly [UserKey, Value | undefined, 'ended'?]

const ALL = 2 ** 31 - 1

/** Form in which a bin holds members: as an ordered list of their keys, or as a map from key to the attributes of the link. */
export interface LinkBin {
  /** Set where links that were ended stay in another bin of the record. */
  readonly ended?: EndedBin
  /** With the record, so that it has its order from the start. */
  create(bin: string): WriteOperation
  /** Without attributes those of a link that is there already stay. */
  put(end: LinkEnd, other: UserKey, attributes?: Value): WriteOperation
  /** Adds members as another record holds them; those that are there already stay as they are. */
  copy(end: LinkEnd, entries: readonly LinkEntry[]): readonly WriteOperation[]
  take(bin: string, others: readonly UserKey[]): WriteOperation
  /** All keys in the bin. */
  keys(bin: string): Expression
  /** Reads which of these keys are in the bin. */
  among(bin: string, keys: readonly UserKey[]): ReadOperation
  /** Reads what a link carries, where links carry something. */
  attributesOf?(bin: string, other: UserKey): ReadOperation
  /** The keys in the bin as it was read. */
  keysIn(stored: Value, target: EntityModel): readonly UserKey[]
  /** Members in the bin as it was read, with what their links carry. */
  entriesIn(stored: Value, target: EntityModel): readonly LinkEntry[]
  /** A bin with these members. */
  binOf(entries: readonly LinkEntry[]): Value
  readonly reads: KeysReads
  /** Reads which of some keys are there, where a copy must not replace them: their entries hold more than a link. */
  readonly unreplaced?: { readonly bin: string; among(keys: readonly UserKey[]): ReadOperation }
  /** Joins the bins of several records as one bin would hold them. */
  merge(bins: readonly Value[]): Value
  /** Reads the first keys in their order, or those from `from` on, that one included if it is there; the answer is called `PAGE`. */
  page(bin: string, count: number, from?: UserKey): ReadOperation
}

/** Name of the result of `page`. */
export const PAGE = '_sk.page'

export const listBin: LinkBin = {
  create: (bin) => listCreate(bin, 'ordered', true),
  put: ({ bin }, other) => listAppendUnique(bin, [other]),
  copy: ({ bin }, entries) => [
    listAppendUnique(
      bin,
      entries.map(([key]) => key),
    ),
  ],
  take: (bin, others) => listRemoveValues(bin, others),
  keys: (bin) => binOf('list', bin),
  among: (bin, keys) => listGetValues(bin, keys, 'value'),
  keysIn: (stored) => stored as readonly UserKey[],
  entriesIn: (stored) => (stored as readonly UserKey[]).map((key) => [key, undefined]),
  binOf: (entries) => mergeKeys([entries.map(([key]) => key)]),
  reads: {
    size: listSize,
    countOf: (bin, keys) => listGetValues(bin, keys, 'count'),
    slice: listGetIndexRange,
    isList: true,
  },
  merge(bins) {
    return bins.every(Array.isArray) ? mergeKeys(bins as UserKey[][]) : bins.find((stored) => !Array.isArray(stored))!
  },
  page(name, count, from) {
    const list = binOf('list', name)
    return readExpression(PAGE, from === undefined ? listSlice(list, 0, count) : listFrom(list, from, count))
  },
}

export const mapBin: LinkBin = {
  create: (bin) => mapCreate(bin, 'ordered', true),
  put({ model, key, bin }, other, attributes) {
    if (other === '__proto__') throw lostKey(model, key)
    return attributes === undefined ? mapPutMissing(bin, other, {}) : mapPut(bin, other, attributes)
  },
  copy: ({ bin }, entries) => entries.map(([key, carried]) => mapPutMissing(bin, key, carried ?? {})),
  take: (bin, others) => mapRemoveKeys(bin, others),
  keys: (bin) => mapKeySlice(binOf('map', bin), 0, ALL),
  among: (bin, keys) => mapGetKeys(bin, keys, 'key'),
  attributesOf: (bin, other) => mapGetKeys(bin, [other], 'value'),
  keysIn: (stored, { key }) =>
    Object.keys(storedMap(stored)).map((each) => (key.storedKind === 'string' ? each : integer(each))),
  entriesIn(stored, target) {
    const values = stored as { readonly [key: string]: Value }
    return this.keysIn(stored, target).map((key) => [key, values[String(key)]])
  },
  binOf: (entries) => Object.fromEntries(entries.map(([key, carried]) => [String(key), carried ?? {}])),
  reads: {
    size: mapSize,
    countOf: (bin, keys) => mapGetKeys(bin, keys, 'count'),
    slice: (bin, offset, count) => mapGetIndexRange(bin, offset, count, 'key'),
    isList: false,
  },
  merge(bins) {
    return Object.assign({}, ...bins.map(storedMap)) as Value
  },
  page(name, count, from) {
    const map = binOf('map', name)
    return readExpression(PAGE, from === undefined ? mapKeySlice(map, 0, count) : mapKeysFrom(map, from, count))
  },
}

/** Reads which of these keys a record has. One that is being deleted has none: its delete may have looked for links already. */
export function amongIn(layout: LinkBin, { model, key, bin: name }: LinkEnd, keys: readonly UserKey[]): MemberQuestion {
  return {
    command: read(model.name, key, 'none', [layout.among(name, keys), readBin(DELETING_BIN)]),
    found: (record) => (record?.bins[DELETING_BIN] == null ? keysAmong(record?.bins[name]) : []),
  }
}

/** Asked for one key alone, a map answers with that key. */
export function keysAmong(found: Value | undefined): readonly UserKey[] {
  if (found === undefined || found === null) return []
  return Array.isArray(found) ? (found as readonly UserKey[]) : [found as UserKey]
}

/** A bin that is not there reads as an empty list. */
function storedMap(stored: Value): object {
  const isMap = typeof stored === 'object' && stored !== null && !(stored instanceof Uint8Array)
  if (isMap && (!Array.isArray(stored) || stored.length === 0)) return stored
  throw new TypeError('not a map of links')
}

function lostKey({ name }: EntityModel, { key }: RecordKey): SkeinError {
  const message = `${name} ${describeKey(key)}: the client loses a map key called '__proto__', so no link with attributes can lead there.`
  return new SkeinError('SKEIN_2101', message, { className: name, key, fix: 'Use another key.' })
}

/** The client gives all keys of a map as text. */
function integer(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

/** A write that only links records: the record must be there, and its expiry stays. */
export function linkWrite(
  model: EntityModel,
  key: RecordKey,
  operations: readonly Operation[],
  exists: Existence = 'mustExist',
): WriteCommand {
  return write(model.name, key, operations, { exists, ttl: 'keep' })
}

/** Writes a link to a record that nobody has read: one of another class of the set takes no link. */
export function blindLinkWrite(model: EntityModel, key: RecordKey, operations: readonly Operation[]): WriteCommand {
  return write(model.name, key, operations, { exists: 'mustExist', ttl: 'keep', guards: whileOfClass(model) })
}

/** The record takes new links: its delete has not begun, and it is of the class that was asked for. */
export const whileLinkable = (model: EntityModel): readonly Guard[] => [
  whileThere(model),
  ...whileOpen(model),
  ...whileOfClass(model),
]

const whileKept = (model: EntityModel): readonly Guard[] => [NOT_DELETING, ...whileOpen(model), ...whileOfClass(model)]

/** Puts a key into the list or map of a record; `mayBeDeleted`: also of one that is deleted softly, which may be new, with its links. */
export function linked(
  bin: LinkBin,
  end: LinkEnd,
  other: UserKey,
  attributes?: Value,
  mayBeDeleted = false,
): WriteCommand {
  const put = bin.put(end, other, attributes)
  return write(end.model.name, end.key, bin.ended === undefined ? [put] : [put, bin.ended.forget([other])], {
    exists: 'mustExist',
    ttl: 'keep',
    guards: mayBeDeleted ? whileKept(end.model) : whileLinkable(end.model),
    watchSize: true,
  })
}

/** Takes keys out of the list or map of a record; with `endedAt` the links stay among those that were ended. */
export function unlinked(
  bin: LinkBin,
  { model, key, bin: name }: LinkEnd,
  others: readonly UserKey[],
  endedAt?: number | null,
): WriteCommand {
  return linkWrite(model, key, takenOut(bin, name, others, endedAt))
}

/** Operations that take keys out of a bin, and keep or drop what is stored of them among ended links. */
export function takenOut(
  layout: LinkBin,
  name: string,
  others: readonly UserKey[],
  endedAt?: number | null,
): readonly WriteOperation[] {
  const { ended } = layout
  if (ended === undefined || endedAt === null) return [layout.take(name, others)]
  const before =
    endedAt === undefined ? [ended.forget(others)] : others.map((other) => ended.keep(name, other, endedAt))
  return [...before, layout.take(name, others)]
}

/** In a transaction a record that stores nothing of a link takes part all the same, so that it cannot be deleted meanwhile. */
export function held(model: EntityModel, key: RecordKey): WriteCommand {
  return write(model.name, key, [touch()], { exists: 'mustExist', ttl: 'keep', guards: whileLinkable(model) })
}

/** Asks for a record in the same way; one that was deleted softly is there, too. */
export function kept(model: EntityModel, key: RecordKey): WriteCommand {
  return write(model.name, key, [touch()], { exists: 'mustExist', ttl: 'keep', guards: whileKept(model) })
}

/** Settles a removal as refused, because what it was to change may be in the archive. */
export function refuseArchived(outcome: Outcome, settle: Settle): ReturnType<Settle> {
  const settled = settle({ ...outcome, reason: 'refused' })
  return settled === true ? true : (outcome.error ?? settled)
}

/** A transaction fails where the owner is not there. */
export const refusingArchived = (settle: Settle): Settle =>
  Object.assign(
    (outcome: Outcome) => (outcome.state === 'written' ? settle(outcome) : refuseArchived(outcome, settle)),
    { tolerates: [] },
  )

// Each relation has a name of its own: one write may change several of a record.
const nameOf = ({ index }: RelationModel): string => `_sk.before${index}`

/** Reads the key that a key bin holds, in the command that replaces it. */
export function readBefore(relation: RelationModel, target: EntityModel): ReadExpression {
  return readExpression(nameOf(relation), bin(expressionType(target.key.storedKind), relation.bin!))
}

/** The key that was there; null when there was none or the command did not ask. */
export function keyBefore(relation: RelationModel, bins: Bins): UserKey | null {
  return (bins[nameOf(relation)] as UserKey | undefined) ?? null
}
