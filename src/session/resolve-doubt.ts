import { binsToJudge, isAsWritten, judge } from '../driver/read-back.js'
import { read, type ReadCommand } from '../plan/command.js'
import type { StoredRecord } from '../plan/outcome.js'
import { afterDoubt, binsReplaced } from '../plan/repeatable.js'
import { takeBackLinksTo } from './forget-deleted.js'
import { isOfWrite, type Managed, type WriteDoubt } from './managed.js'
import type { SendParts } from './send-work.js'
import { callOptions } from './session-context.js'
import type { Work } from './work.js'

const doubtful = (work: Work): Managed[] => [...work.saved, ...work.removed].filter(mustBeLookedUp)

export const hasDoubts = (work: Work): boolean => doubtful(work).length > 0

/** Looks up whether writes of an earlier flush, whose answers were lost, took effect: they must neither be lost nor sent twice. */
export async function resolveDoubts(work: Work, parts: SendParts, signal?: AbortSignal): Promise<void> {
  const { context } = parts
  // Where a delete did not happen, what was in doubt before it is again.
  for (let members = doubtful(work); members.length > 0; members = doubtful(work)) {
    const records = await context.driver.read(members.map(lookUp), callOptions(context, signal))
    members.forEach((managed, i) => resolve(managed, records[i], parts))
    const forgotten = members.filter(({ state }) => state === 'gone')
    takeBackLinksTo(forgotten, context)
    work.drop(forgotten)
  }
}

/** What is simply sent again, as it was, needs no look. */
function mustBeLookedUp({ doubt, state, overwrite, version, mapped, entity }: Managed): boolean {
  if (doubt === undefined) return false
  if (!isOfWrite(doubt)) return state !== 'removed'
  const isOnce = afterDoubt(doubt.command) === 'readBack'
  if (state === 'removed') return isOnce || (isOverwrite(doubt) && version !== undefined)
  return !overwrite && (isOnce || mapped.codec.hasChanged(entity, doubt.sent))
}

const isOverwrite = ({ command }: WriteDoubt): boolean => command.kind === 'write' && command.exists === 'upsert'

function lookUp({ model, key, doubt }: Managed): ReadCommand {
  const bins = binsToJudge(doubt!.command)
  return read(model.name, key, bins.length === 0 ? 'none' : bins)
}

function resolve(managed: Managed, record: StoredRecord | null, { entities }: SendParts): void {
  const doubt = managed.doubt!
  managed.doubt = undefined
  if (isOfWrite(doubt)) return resolveWrite(managed, doubt, record)
  managed.doubt = doubt.before
  if (record !== null) return
  managed.startAnew()
  entities.takeInAgain(managed)
}

function resolveWrite(managed: Managed, doubt: WriteDoubt, record: StoredRecord | null): void {
  const { command, confirm } = doubt
  const { state, snapshot, mapped, removeAny, home } = managed
  if (isDone(doubt, record))
    return confirm({ command, state: 'written', bins: record?.bins ?? {}, generation: record?.generation })
  // Where it did not happen, or another writer came between, it is compared with what is there and sent again; its guard decides.
  if (snapshot !== undefined) mapped.codec.reread(snapshot, record?.bins ?? {}, binsReplaced(command))
  // It was never created, or what is there now is not what was to be created: nothing of it is left to delete.
  else if (state === 'removed' && !removeAny) home.remove(managed)
}

/** Who made the record what it should be does not matter any more: the caller was told that it is in doubt. */
function isDone(doubt: WriteDoubt, record: StoredRecord | null): boolean {
  const { command } = doubt
  if (isOverwrite(doubt)) return record !== null && command.kind === 'write' && isAsWritten(command, record)
  const verdict = judge(command, record)
  return verdict === 'applied' || verdict === 'asWanted'
}
