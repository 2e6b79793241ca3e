import { flushChannel } from '../driver/events.js'
import { stage } from '../plan/plan.js'
import { publishFlush } from './flush-event.js'
import { flushFailure } from './flush-failure.js'
import type { Managed } from './managed.js'
import { planRecord } from './plan-record.js'
import { callOptions, type SessionContext } from './session-context.js'
import type { FlushOptions } from './unit-of-work.js'
import { validateAll } from './validation.js'

/** True when a save or delete of the entity is one command and nothing else: no relations, hooks, transaction or doubts. */
export function isSimple({ mapped, doubt }: Managed, { transaction }: SessionContext): boolean {
  return mapped.isSimple && doubt === undefined && transaction === undefined
}

/** What the unit of work does for one such entity, without the steps that are only needed for more. */
export async function sendSimple(managed: Managed, context: SessionContext, options: FlushOptions): Promise<void> {
  const { signal } = options
  signal?.throwIfAborted()
  if (managed.state === 'gone') return
  if (context.validate && managed.state !== 'removed') validateAll([managed])
  const planned = planRecord(managed, new Date())
  if (planned === undefined) return
  const { command, settle } = planned
  const began = flushChannel.hasSubscribers ? performance.now() : 0
  const outcome = await context.driver.runOne(command, signal === undefined ? undefined : callOptions(context, signal))
  const isDone = settle(outcome)
  if (isDone && !flushChannel.hasSubscribers) return
  const failed = isDone ? [] : [outcome]
  const error = isDone ? undefined : flushFailure({ outcomes: [outcome], failed }, signal)
  const stages = [stage('write', [command])]
  publishFlush({ stages, outcomes: [outcome], failed }, performance.now() - began, error)
  if (!isDone) throw error
}
