import type { KeyValue } from '../../keys/index.js'
import {
  DELETING_BIN,
  deletedBinOf,
  goneBinsOf,
  isShown,
  type EntityModel,
  type RelationModel,
} from '../../model/index.js'
import { binEquals, read, remove, write } from '../../plan/command.js'
import type { Draft, Settle } from '../../plan/draft.js'
import { writeBin } from '../../plan/operations.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import { endIsDeleted } from '../contract/relation-errors.js'
import { isCreation, modelAt, storedRef } from '../contract/member.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import { linkWrite } from './link-bin.js'
import { storeOf } from './store-of.js'

/** A link record, as those see it that undo it. */
interface Link {
  readonly model: EntityModel
  readonly key: RecordKey
}

/**
 * Deletes a link record again, one end of which turned out to be gone, and takes it off the list of the other end. An end that is in the archive, or
 * has just come back from there, and lists the link keeps it: it was linked before.
 */
export function undoLink(
  link: Link,
  ref: RelationModel,
  gone: RecordKey,
  draft: Draft,
  reader: Reader,
  settle: Settle,
): void {
  const end = modelAt(reader.entityModel(ref.target), gone)
  const list = end.relations.find(({ name }) => name === ref.inverse)
  const removeIt = (): void => removeLink(link, ref, gone, draft, reader, settle)
  if (end.archive === undefined || list?.bin === undefined || draft.isTransaction) return removeIt()
  const store = storeOf(end, list, link.model)
  // The last one, because it may have been archived again since it was asked for there.
  const places = [end.archive, gone.namespace, end.archive]
  const ask = ([namespace, ...rest]: readonly string[]): void => {
    if (namespace === undefined) return removeIt()
    const [{ command, found }] = store.among({ ...gone, namespace }, [link.key.key])
    draft.check(command, (record) => {
      if (found(record).length === 0) ask(rest)
    })
  }
  ask(places)
}

function removeLink(
  { model, key }: Link,
  ref: RelationModel,
  gone: RecordKey,
  draft: Draft,
  reader: Reader,
  settle: Settle,
): void {
  const guards = [binEquals(ref.bin!, storedRef(ref, gone))]
  draft.add('undo', remove(model.name, key, { guards, durableDelete: model.durableDelete }), (outcome) => {
    // Only now: the list of the other end may have got it after that of the end which is gone.
    takeOffOthers({ model, key }, ref, draft, reader)
    return settle(outcome)
  })
}

function takeOffOthers({ model, key }: Link, ref: RelationModel, draft: Draft, reader: Reader): void {
  const others = model.relations.filter(({ name }) => name !== ref.name && model.key.properties.includes(name))
  for (const { name, target, inverse } of others) {
    const ends = reader.entityModel(target)
    const owner = reader.recordKey(ends, reader.keyPart(model, reader.fromStored(model, key.key), name))
    const end = modelAt(ends, owner)
    const list = end.relations.find((each) => each.name === inverse)
    if (list?.bin === undefined) continue
    void storeOf(end, list, model).remove({ owner, member: key.key }, draft, 'undo', isWrittenOrMissing, reader)
  }
}

/** Time at which a link was ended that a flush has replaced; null for one that was there. */
const replaced = new WeakMap<Tracked, { readonly endedAt: Value | null }>()

/**
 * Undoes a link record that has replaced another one, an end of which another session has deleted softly meanwhile: it belongs to what that
 * delete took along, and comes back with its end, or is as ended as it was. False where nothing was replaced.
 */
export function undoReplacedLink(
  tracked: Tracked,
  ref: RelationModel,
  end: { readonly model: EntityModel; readonly key: RecordKey },
  draft: Draft,
  settle: Settle,
  goneForGood: () => void,
): boolean {
  const { model, key } = tracked
  const [former, bin, time] = [replaced.get(tracked), deletedBinOf(model), deletedBinOf(end.model)]
  if (former === undefined || bin === undefined || time === undefined) return false
  draft.check(read(end.model.name, end.key, goneBinsOf(end.model)), (record) => {
    if (record === null || record.bins[DELETING_BIN] != null) return goneForGood()
    const endedAt = former.endedAt ?? record.bins[time] ?? null
    // Restored meanwhile: both ends are there.
    if (endedAt === null) return
    const guards = [binEquals(ref.bin!, storedRef(ref, end.key))]
    draft.add(
      'undo',
      write(model.name, key, [writeBin(bin, endedAt)], { exists: 'mustExist', ttl: 'keep', guards }),
      settle,
    )
  })
  return true
}

/**
 * Refuses to replace a link record while this end of it is deleted softly, where no transaction would bring the stored one back: it was
 * deleted with its end, and has to come back with it. In a transaction the end itself refuses, unless its list is in another record
 * (`isApart`). Undefined where there is nothing to ask.
 */
export function keepLinkOfDeleted(
  tracked: Tracked,
  targets: EntityModel,
  to: KeyValue,
  isApart: boolean,
  draft: Draft,
  reader: Reader,
): Promise<void> | undefined {
  const { model, key: link, overwrite } = tracked
  replaced.delete(tracked)
  if (overwrite !== true || (draft.isTransaction && !(draft.isInside && isApart))) return undefined
  const key = reader.recordKey(targets, to)
  const target = modelAt(targets, key)
  const bin = deletedBinOf(target)
  const known = bin === undefined ? undefined : reader.known(targets.name, to)
  if (bin === undefined || known?.state === 'new' || known?.state === 'removed') return undefined
  const reads = [read(target.name, key, [bin]), read(model.name, link, goneBinsOf(model))]
  return reader.read(reads).then(([record, stored]) => {
    if (record !== null && !isShown(target, record.bins, undefined))
      throw endIsDeleted({ model, link }, target, reader.fromStored(target, key.key))
    if (stored === null || stored.bins[DELETING_BIN] != null) return
    replaced.set(tracked, { endedAt: stored.bins[deletedBinOf(model) ?? ''] ?? null })
  })
}

/** Rolls back the creation of a record whose key contains that of another one, where the same flush could not create that. */
export function undoUnlessStored(
  tracked: Tracked,
  ref: RelationModel,
  other: Tracked,
  draft: Draft,
  reader: Reader,
): void {
  const states = new Map<Tracked, Outcome['state']>()
  const note = (end: Tracked) => (outcome: Outcome) => {
    states.set(end, outcome.state)
    if (states.get(tracked) === 'written' && states.get(other) === 'notWritten')
      undoLink(tracked, ref, other.key, draft, reader, ({ state }) => {
        if (state === 'written') reader.startAnew(tracked)
        return true
      })
    return outcome.state === 'written'
  }
  for (const end of [tracked, other]) {
    const exists = isCreation(end) ? 'mustNotExist' : 'upsert'
    draft.add('write', linkWrite(end.model, end.key, [], exists), note(end))
  }
}
