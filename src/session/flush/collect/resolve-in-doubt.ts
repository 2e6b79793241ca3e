import { binsToJudge, isAsWritten, judge } from '../../../driver/read-back.js'
import { read, type ReadCommand } from '../../../plan/command.js'
import type { StoredRecord } from '../../../plan/outcome.js'
import { afterDoubt, binsReplaced } from '../../../plan/effects.js'
import { rollbackLinksTo } from '../../tracking/unlink-deleted.js'
import { isOfWrite, type WriteDoubt } from '../../tracking/doubt.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import type { SendParts } from '../session-parts.js'
import { callOptions } from '../../context/session-context.js'
import type { ChangeSet } from './change-set.js'

const doubtful = (work: ChangeSet): ManagedEntity[] => [...work.saved, ...work.removed].filter(mustBeLookedUp)

export const hasDoubts = (work: ChangeSet): boolean => doubtful(work).length > 0

/** Looks up whether writes of an earlier flush, whose answers were lost, took effect: they must neither be lost nor sent twice. */
export async function resolveDoubts(work: ChangeSet, parts: SendParts, signal?: AbortSignal): Promise<void> {
  const { context } = parts
  // A delete that did not happen brings back the doubt that was there before it.
  for (let members = doubtful(work); members.length > 0; members = doubtful(work)) {
    const doubts = members.map(({ doubt }) => doubt)
    const records = await context.driver.read(members.map(lookUp), callOptions(context, signal))
    // A question may have looked it up meanwhile.
    members.forEach((managed, i) => managed.doubt === doubts[i] && resolve(managed, records[i], parts))
    const forgotten = members.filter(({ state }) => state === 'gone')
    rollbackLinksTo(forgotten, context)
    work.drop(forgotten)
  }
}

/** True unless the command is simply sent again, as it was. */
function mustBeLookedUp({ doubt, state, overwrite, version, mapped, entity }: ManagedEntity): boolean {
  if (doubt === undefined) return false
  if (!isOfWrite(doubt)) return state !== 'removed'
  const isOnce = afterDoubt(doubt.command) === 'readBack'
  if (state === 'removed') return isOnce || (isOverwrite(doubt) && version !== undefined)
  return !overwrite && (isOnce || mapped.codec.hasChanged(entity, doubt.sent))
}

const isOverwrite = ({ command }: WriteDoubt): boolean => command.kind === 'write' && command.exists === 'upsert'

function lookUp({ model, key, doubt }: ManagedEntity): ReadCommand {
  const bins = binsToJudge(doubt!.command)
  return read(model.name, key, bins.length === 0 ? 'none' : bins)
}

function resolve(managed: ManagedEntity, record: StoredRecord | null, { entities }: SendParts): void {
  const doubt = managed.doubt!
  if (isOfWrite(doubt)) {
    managed.endDoubt()
    return resolveWrite(managed, doubt, record)
  }
  managed.endDoubt(doubt.before)
  if (record !== null) return
  managed.startAnew()
  entities.takeInAgain(managed)
}

function resolveWrite(managed: ManagedEntity, doubt: WriteDoubt, record: StoredRecord | null): void {
  const { command, confirm } = doubt
  const { state, snapshot, mapped, deleteIntent, home, loaded } = managed
  if (isDone(doubt, record))
    return confirm({ command, state: 'written', bins: record?.bins ?? {}, generation: record?.generation })
  // Not done, or another writer came between: compares with what is there and sends again; the guard decides.
  if (snapshot !== undefined) {
    const recorded = [...doubt.recorded].map((property) => mapped.binOf(property)!)
    const replaced = [...binsReplaced(command)].filter((bin) => !recorded.includes(bin))
    mapped.codec.reread(snapshot, doubt.sent, record?.bins ?? {}, new Set(replaced), loaded)
  }
  // Never created, or another record stands there by now: nothing of it is left to delete.
  else if (state === 'removed' && !deleteIntent!.ignoresVersion) home.remove(managed)
}

/** True when the record is as wanted, whoever made it so: the caller was told that it is in doubt. */
function isDone(doubt: WriteDoubt, record: StoredRecord | null): boolean {
  const { command } = doubt
  if (isOverwrite(doubt)) return record !== null && command.kind === 'write' && isAsWritten(command, record)
  const verdict = judge(command, record)
  return verdict === 'applied' || verdict === 'asWanted'
}
