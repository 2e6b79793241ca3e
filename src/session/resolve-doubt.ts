import { binsToJudge, judge } from '../driver/read-back.js'
import { read } from '../plan/command.js'
import type { Managed } from './managed.js'
import { callOptions, type SessionContext } from './session-context.js'
import type { Work } from './work.js'

const doubtful = (work: Work): Managed[] => [...work.saved, ...work.removed].filter(({ doubt }) => doubt !== undefined)

export const hasDoubts = (work: Work): boolean => doubtful(work).length > 0

/** Looks up whether writes of an earlier flush, whose answers were lost, took effect: they must neither be lost nor sent twice. */
export async function resolveDoubts(work: Work, context: SessionContext, signal?: AbortSignal): Promise<void> {
  const members = doubtful(work)
  const commands = members.map(({ model, key, doubt }) => read(model.name, key, binsToJudge(doubt!.command)))
  const records = await context.driver.read(commands, callOptions(context, signal))
  members.forEach((managed, i) => resolve(managed, records[i]))
}

function resolve(managed: Managed, record: Awaited<ReturnType<SessionContext['driver']['read']>>[number]): void {
  const { command, confirm } = managed.doubt!
  managed.doubt = undefined
  // Where it did not happen, or another writer came between, the write is sent again and its guard decides. Who made the record what it
  // should be does not matter any more: the caller was told that it is in doubt.
  const verdict = judge(command, record)
  if (verdict !== 'applied' && verdict !== 'asWanted') return
  confirm({ command, state: 'written', bins: {}, generation: record?.generation })
}
