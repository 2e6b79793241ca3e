import { flushChannel, type Events } from '../../../driver/events.js'
import type { WriteReceiver } from '../../../driver/pending-write.js'
import { settleFailure } from '../../../plan/settle-failure.js'
import type { Outcome } from '../../../plan/outcome.js'
import { stage } from '../../../plan/plan.js'
import { publishFlush } from './flush-event.js'
import { flushFailure, isRefused } from './flush-failure.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'
import { planRecord } from '../plan/record-contributor.js'
import type { PlannedRecord } from '../plan/record-write.js'
import type { SessionContext } from '../../context/session-context.js'
import type { QueuedWork, WorkQueue } from '../../tracking/work-queue.js'
import { validateAll } from '../collect/validate.js'

/** Receives that an entity has been sent, or why not. */
export interface SendReceiver {
  sent(managed: ManagedEntity): void
  failed(error: unknown): void
  /** Called before, perhaps twice, when nothing can have been written because of the call itself or of what is stored. */
  refused?: (() => void) | undefined
}

const NO_TIME = new Date(0)

/** Sends one entity as the unit of work would, without the steps and promises that only several need. */
export function executeSingle(
  managed: ManagedEntity,
  context: SessionContext,
  queue: WorkQueue,
  receiver: SendReceiver,
): void {
  const queued = queue.beginOne(managed)
  let planned: PlannedRecord | undefined
  try {
    planned = plan(managed, context)
    if (planned !== undefined) {
      return context.driver.runInto(
        planned.command,
        new SimpleSend(managed, planned, queue, queued, context.driver.events, receiver),
      )
    }
  } catch (error) {
    managed.endWrite()
    queue.endOne(managed, queued)
    receiver.refused?.()
    return receiver.failed(error)
  }
  queue.endOne(managed, queued)
  receiver.sent(managed)
}

function plan(managed: ManagedEntity, { validate, classes }: SessionContext): PlannedRecord | undefined {
  if (managed.state === 'gone') return undefined
  if (validate && managed.state !== 'removed' && managed.mapped.mayBreakRules(managed.entity))
    validateAll([managed], classes.model)
  return planRecord(managed, managed.mapped.codec.stamps.isTimed ? new Date() : NO_TIME)
}

class SimpleSend implements WriteReceiver {
  readonly #managed: ManagedEntity
  readonly #planned: PlannedRecord
  readonly #queue: WorkQueue
  readonly #queued: QueuedWork
  readonly #events: Events
  readonly #receiver: SendReceiver
  readonly #began = flushChannel.hasSubscribers ? performance.now() : 0

  constructor(
    managed: ManagedEntity,
    planned: PlannedRecord,
    queue: WorkQueue,
    queued: QueuedWork,
    events: Events,
    receiver: SendReceiver,
  ) {
    this.#managed = managed
    this.#planned = planned
    this.#queue = queue
    this.#queued = queued
    this.#events = events
    this.#receiver = receiver
  }

  settled(outcome: Outcome): void {
    const error = this.#take(outcome)
    this.#managed.noteWritten()
    this.#queue.endOne(this.#managed, this.#queued)
    if (error === undefined) this.#receiver.sent(this.#managed)
    else this.#receiver.failed(error)
  }

  /** The error that the caller gets. */
  #take(outcome: Outcome): unknown {
    let isDone = outcome.state === 'written'
    let error: unknown
    try {
      isDone = this.#planned.settle(outcome)
    } catch (thrown) {
      error = settleFailure(outcome, thrown)
    }
    if (isDone && !flushChannel.hasSubscribers) return error
    const failed = isDone ? [] : [outcome]
    if (!isDone) error = flushFailure({ outcomes: [outcome], failed })
    if (!isDone && isRefused([outcome])) this.#receiver.refused?.()
    if (!flushChannel.hasSubscribers) return error
    const stages = [stage('write', [outcome.command])]
    publishFlush(
      this.#events,
      this.#managed.home.session,
      { stages, outcomes: [outcome], failed },
      performance.now() - this.#began,
      error,
    )
    return error
  }
}
