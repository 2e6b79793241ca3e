import { flushChannel } from '../../driver/events.js'
import { OneSettled } from '../../driver/pending-write.js'
import { remove } from '../../plan/command.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import { stage } from '../../plan/plan.js'
import type { RecordKey } from '../../plan/record-key.js'
import { publishFlush } from '../flush/execute/flush-event.js'
import { flushFailure } from '../flush/execute/flush-failure.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { callOptions, type SessionContext } from '../context/session-context.js'
import { anotherClass } from '../context/session-errors.js'

/** Receives whether there was a record to delete. */
export interface DeleteReceiver {
  readonly deleted: (wasStored: boolean) => void
  readonly failed: (error: unknown) => void
}

const DELETE_AGAIN = 'Delete it again once the cause is gone.'

/** Deletes a record that the session has not loaded and nobody needs to see. */
export function deleteBlindly(
  mapped: MappedClass,
  key: RecordKey,
  context: SessionContext,
  signal: AbortSignal | undefined,
  { deleted, failed }: DeleteReceiver,
  end: () => void,
): void {
  const { name, durableDelete } = mapped.model
  const command = remove(name, key, { guards: mapped.classGuards, durableDelete })
  const began = flushChannel.hasSubscribers ? performance.now() : 0
  const settled = (outcome: Outcome): void => {
    end()
    const isDone = isWrittenOrMissing(outcome)
    const refused = isDone ? [] : [outcome]
    const error = isDone ? undefined : refusalOf(outcome, mapped, signal)
    if (flushChannel.hasSubscribers) {
      const stages = [stage('delete', [command])]
      publishFlush(
        context.driver.events,
        context.identity.session,
        { stages, outcomes: [outcome], failed: refused },
        performance.now() - began,
        error,
      )
    }
    if (isDone) deleted(outcome.state === 'written')
    else failed(error)
  }
  const broken = (error: unknown): void => {
    end()
    failed(error)
  }
  if (context.transaction === undefined && signal === undefined) {
    try {
      context.driver.runInto(command, new OneSettled(settled))
    } catch (error) {
      broken(error)
    }
  } else context.driver.runOne(command, callOptions(context, signal)).then(settled, broken)
}

function refusalOf(outcome: Outcome, mapped: MappedClass, signal: AbortSignal | undefined): unknown {
  if (outcome.reason === 'guard') return anotherClass(mapped, outcome.command.key)
  return flushFailure({ outcomes: [outcome], failed: [outcome] }, signal, DELETE_AGAIN)
}
