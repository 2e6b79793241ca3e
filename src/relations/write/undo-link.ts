import type { KeyValue } from '../../keys/index.js'
import { deletedBinOf, isShown, type EntityModel, type RelationModel } from '../../model/index.js'
import { binEquals, read, remove } from '../../plan/command.js'
import type { Draft, Settle } from '../../plan/draft.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Reader } from '../contract/reader.js'
import type { Tracked } from '../contract/tracked.js'
import { endIsDeleted } from '../contract/relation-errors.js'
import { isCreation } from '../contract/member.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import { linkWrite } from './link-bin.js'
import { storeOf } from './store-of.js'

interface Link {
  readonly model: EntityModel
  readonly key: RecordKey
}

/** Deletes a link record again, one end of which turned out to be gone, and takes it off the list of the other end. */
export function undoLink(
  { model, key }: Link,
  ref: RelationModel,
  gone: RecordKey,
  draft: Draft,
  reader: Reader,
  settle: Settle,
): void {
  const guards = [binEquals(ref.bin!, gone.key)]
  draft.add('undo', remove(model.name, key, { guards, durableDelete: model.durableDelete }), (outcome) => {
    // Only now: the list of the other end may have got it after that of the end which is gone.
    takeOffOthers({ model, key }, ref, draft, reader)
    return settle(outcome)
  })
}

function takeOffOthers({ model, key }: Link, ref: RelationModel, draft: Draft, reader: Reader): void {
  const others = model.relations.filter(({ name }) => name !== ref.name && model.key.properties.includes(name))
  for (const { name, target, inverse } of others) {
    const end = reader.entityModel(target)
    const list = end.relations.find((each) => each.name === inverse)
    if (list?.bin === undefined) continue
    const owner = reader.recordKey(end, reader.keyPart(model, reader.fromStored(model, key.key), name))
    void storeOf(end, list, model).remove({ owner, member: key.key }, draft, 'undo', isWrittenOrMissing, reader)
  }
}

/**
 * Refuses to replace a link record while this end of it is deleted softly, where no transaction would bring the stored one back: it was
 * deleted with its end, and has to come back with it. Undefined where there is nothing to ask.
 */
export function keepLinkOfDeleted(
  { model, key: link, overwrite }: Tracked,
  target: EntityModel,
  to: KeyValue,
  draft: Draft,
  reader: Reader,
): Promise<void> | undefined {
  const bin = deletedBinOf(target)
  if (bin === undefined || overwrite !== true || draft.isInside || draft.isTransaction) return undefined
  const known = reader.known(target.name, to)
  if (known?.state === 'new' || known?.state === 'removed') return undefined
  return reader.read([read(target.name, reader.recordKey(target, to), [bin])]).then(([record]) => {
    if (record !== null && !isShown(target, record.bins, undefined)) throw endIsDeleted({ model, link }, target, to)
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
