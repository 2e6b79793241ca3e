import { Explanation } from '../../plan/explain.js'
import type { Outcome } from '../../plan/outcome.js'
import { flushChannel } from '../../driver/events.js'
import { recordId } from '../../plan/record-key.js'
import type { Reader } from '../../relations/contract/reader.js'
import { beginSending, type Sent as SentRelations } from '../../relations/state/state-of.js'
import { explainDrain } from './drain/explain-drain.js'
import { publishFlush } from './execute/flush-event.js'
import { flushFailure, isRefused } from './execute/flush-failure.js'
import { forgetDeleted, rollbackLinksTo } from '../tracking/unlink-deleted.js'
import { collectChanges, gatherAll, hasHooks, isDirty, plainChanges } from './collect/collect-changes.js'
import { callAllHooks } from '../tracking/lifecycle-hooks.js'
import { noteWritten } from './written-entities.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { TransactionMode } from '../context/open-options.js'
import type { PlanDraft } from '../../plan/plan-draft.js'
import { dropPlan, isWaiting, planDetached, planInto } from './plan/plan-change-set.js'
import { CopyUpkeep } from '../copies/copy-upkeep.js'
import { explainCopies } from '../copies/explain-copies.js'
import { hasDoubts, resolveDoubts } from './collect/resolve-in-doubt.js'
import { deleteInSteps, type SendAll } from './drain/delete-in-steps.js'
import type { AfterMark, RunResult } from './execute/execute-stages.js'
import { planFlush, executeChangeSet } from './execute/execute-change-set.js'
import type { SendParts } from './session-parts.js'
import { keepRelinkedOrphans } from './execute/keep-relinked-orphans.js'
import { badOption, noteInside } from '../transaction/transaction-errors.js'
import { validateAll } from './collect/validate.js'
import { ChangeSet } from './collect/change-set.js'
import type { FlushOptions } from '../context/option-types.js'

interface Sent {
  readonly began: number
  readonly result: RunResult
}

/** Finds what changed, plans it, sends it and takes over the outcome. Each step is a file of its own. */
export class UnitOfWork {
  readonly #parts: SendParts
  readonly #copies: CopyUpkeep | undefined

  constructor(parts: SendParts) {
    this.#parts = parts
    const { copies } = parts.context.classes
    this.#copies = copies && new CopyUpkeep(copies, parts)
  }

  /** Sends everything in the session that changed. */
  flush(options: FlushOptions = {}): Promise<void> {
    return this.#run(() => this.#parts.context.identity.filter(isDirty), options)
  }

  /** Sends one entity, if it changed, and what it reaches; `refused` is called when nothing was sent, or its condition was not met. */
  one(managed: ManagedEntity, options: FlushOptions = {}, refused?: () => void): Promise<void> {
    return this.#run(() => (isDirty(managed) ? [managed] : []), options, { refused })
  }

  /** Sends these entities, if they changed, and what they reach. */
  some(members: readonly ManagedEntity[], options: FlushOptions = {}): Promise<void> {
    return this.#run(() => members.filter(isDirty), options)
  }

  /** Looks up whether a write whose answer was lost took effect; undefined where it is simply sent again. */
  resolveDoubt(managed: ManagedEntity): Promise<void> | undefined {
    const work = new ChangeSet([managed])
    return hasDoubts(work) ? resolveDoubts(work, this.#parts) : undefined
  }

  /** Plans a flush without running hooks, changing an entity or sending anything. */
  async explain(members: readonly ManagedEntity[], mode = this.#parts.context.transactions): Promise<Explanation> {
    const { context, entities, reader } = this.#parts
    const work = await collectChanges(() => [...members], entities, reader, {
      hooks: 'skip',
      isWhole: mode === 'required',
      around: this.#parts.around,
    })
    try {
      rollbackLinksTo(work.removed, context, (undo) => work.onRollback(undo), true)
      const plans = await planFlush(work, this.#parts, mode)
      const { copies } = context.classes
      const following = copies === undefined ? [] : [explainCopies(copies, plans)]
      return new Explanation([...work.drains.map(explainDrain), ...plans, ...following])
    } finally {
      endWrites(work)
      work.rollback()
    }
  }

  async #run(
    scan: () => ManagedEntity[],
    options: FlushOptions,
    { refused, done, now = new Date() }: Round = {},
  ): Promise<void> {
    const { context, entities } = this.#parts
    const { signal, transactions = context.transactions } = options
    let work: ChangeSet
    let isFollowed: boolean
    try {
      this.#check(options)
      const found = scan()
      isFollowed = found.some((managed) => context.identity.nextOf(managed) !== undefined)
      work = plainChanges(found, this.#parts.around) ?? (await this.#gather(found, scan, options, done))
    } catch (error) {
      refused?.()
      throw error
    }
    if (work.isEmpty) return this.#settleCopies(options)
    const { result, began } = await this.#inFlight(work, refused, (onEnd) =>
      this.#send(work, transactions, options, now, onEnd),
    )
    if (work.isDeleting) forgetDeleted(work.removed, context)
    for (const managed of work.removed) if (managed.state === 'new') entities.takeInAgain(managed)
    if (result.outcomes.length === 0) return this.#settleCopies(options)
    const isOvertaken =
      result.failed.length > 0 && (await keepRelinkedOrphans(work, result, this.#readerFor(options), context.driver))
    // Others may have deleted some of them.
    if (isOvertaken) forgetDeleted(work.removed, context)
    const error = result.failed.length === 0 || isOvertaken ? result.broken?.[0] : flushFailure(result, signal)
    if (error !== undefined) {
      if (result.outcomes.every(isNotWritten)) work.rollback()
      if (isRefused(result.outcomes)) refused?.()
      work.noteDeletesBegun(result.outcomes, result.failed)
      noteInside(error, context.transaction)
    }
    this.#copies?.note(result.outcomes)
    if (flushChannel.hasSubscribers)
      publishFlush(context.driver.events, context.identity.session, result, performance.now() - began, error)
    await this.#runAfterHooks(work, result).catch((thrown: unknown) => {
      if (error === undefined) noteWritten(work.saved, work.removed)
      throw error ?? thrown
    })
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- the reason of an abort is the caller's own
    if (error !== undefined) throw error
    await this.#settleCopies(options).catch((thrown: unknown) => {
      noteWritten(work.saved, work.removed)
      throw thrown
    })
    // Changes that handles made for after a failed delete are sent along once the delete is done.
    if (!isOvertaken && !isFollowed) return
    const isDone = new Set([...(done ?? []), ...work.saved, ...work.removed])
    await this.#run(scan, options, { refused, done: isDone, ...(isOvertaken && { now }) })
  }

  /** Brings copies in line with what was sent, also by a flush that failed before it came to that. */
  async #settleCopies(options: FlushOptions): Promise<void> {
    if (this.#copies?.isPending) await this.#copies.settle(this.#readerFor(options), options.signal)
  }

  #readerFor({ outsideTransaction = false }: FlushOptions): Reader {
    return outsideTransaction ? this.#parts.reader.outside() : this.#parts.reader
  }

  #check({ signal, step }: FlushOptions): void {
    signal?.throwIfAborted()
    if (step !== undefined && (!Number.isInteger(step) || step < 1))
      throw badOption('step', step, 'a whole number of at least 1')
  }

  #gather(
    found: readonly ManagedEntity[],
    scan: () => ManagedEntity[],
    options: FlushOptions,
    done: ReadonlySet<ManagedEntity> | undefined,
  ): Promise<ChangeSet> {
    const { context, entities, around } = this.#parts
    const { step, transactions = context.transactions } = options
    const isWhole = context.transaction !== undefined || transactions === 'required'
    return gatherAll(found, scan, entities, this.#readerFor(options), { isWhole, step, done, around })
  }

  /** Marks the work as in flight while it is sent; where it is refused as a whole, the session is as it was before. */
  async #inFlight(
    work: ChangeSet,
    refused: (() => void) | undefined,
    send: (onEnd: OnEnd) => Promise<Sent>,
  ): Promise<Sent> {
    const { entities } = this.#parts
    const ends = [() => endWrites(work), () => entities.endSending(work)]
    entities.beginSending(work)
    try {
      return await send((end) => ends.push(end))
    } catch (error) {
      // A large delete that was cut off has begun, and is to be finished.
      const isBegun = work.drains.some(({ owner }) => (owner as ManagedEntity).isDeleteBegun)
      work.rollback()
      if (!isBegun) refused?.()
      throw error
    } finally {
      for (const end of ends) end()
    }
  }

  async #send(
    work: ChangeSet,
    transactions: TransactionMode,
    options: FlushOptions,
    now: Date,
    onEnd: OnEnd,
  ): Promise<Sent> {
    const { context } = this.#parts
    const { signal } = options
    if (work.isInDoubt && hasDoubts(work)) await resolveDoubts(work, this.#parts, signal)
    if (context.validate) {
      const bound = [...work.saved].filter(({ mapped, entity }) => mapped.mayBreakRules(entity))
      if (bound.length > 0) validateAll(bound, context.classes.model)
    }
    if (work.drains.length > 0) await deleteInSteps(work.drains, this.#parts, sendAll, options)
    if (work.isDeleting) rollbackLinksTo(work.removed, context, (undo) => work.onRollback(undo))
    const marked: AfterMark = (draft, isStopped) => this.#lookAgain(work, draft, isStopped, options)
    const began = performance.now()
    onEnd(beginSending(relationsOf(work.saved)))
    return { began, result: await executeChangeSet(work, this.#parts, transactions, now, signal, marked) }
  }

  /** Looks for members again that were added after the first look; now that their owners are marked, no more can come. */
  async #lookAgain(
    work: ChangeSet,
    draft: PlanDraft,
    isStopped: (id: string) => boolean,
    options: FlushOptions,
  ): Promise<void> {
    const { entities, reader, around } = this.#parts
    const known = new Set([...work.saved, ...work.removed])
    // Members that others lead to as well are looked at themselves: the others may stay, or go only because of them.
    const roots = [...work.removed].filter(
      (managed) => (work.depthOf(managed) === 0 || isWaiting(managed)) && !isStopped(recordId(managed.key)),
    )
    if (roots.length === 0) return
    const again = await collectChanges(() => roots, entities, reader, {
      done: known,
      step: options.step,
      isAgain: true,
      around,
    })
    if (again.drains.length > 0) await deleteInSteps(again.drains, this.#parts, sendAll, options)
    work.onRollback(() => again.rollback())
    const late = again.filter(
      (managed) => !known.has(managed) || (managed.state === 'removed' && work.isSaving(managed)),
    )
    for (const managed of [...late.saved, ...late.removed]) work.add(managed)
    if (!late.isEmpty) await planInto(draft, late, reader)
    const saved = again.filter((managed) => !late.has(managed))
    if (saved.detached.size > 0) await planDetached(draft, saved, reader)
  }

  async #runAfterHooks(work: ChangeSet, { failed }: RunResult): Promise<void> {
    const unsaved = new Set(failed.map(({ command }) => recordId(command.key)))
    const isDone = ({ key }: ManagedEntity): boolean => unsaved.size === 0 || !unsaved.has(recordId(key))
    const saved = [...work.saved].filter((managed) => isDone(managed) && !managed.isUnread)
    const removed = [...work.removed].filter(isDone)
    if (hasHooks('afterSave', saved)) await callAllHooks('afterSave', saved)
    if (hasHooks('afterDelete', removed)) await callAllHooks('afterDelete', removed)
  }
}

function* relationsOf(members: Iterable<ManagedEntity>): Generator<SentRelations> {
  for (const managed of members)
    if (managed.mapped.relations.length > 0) yield { tracked: managed, strategies: managed.mapped.relations }
}

/** Pass of a flush: `refused` is called when nothing was sent or a condition was not met, `done` are those whose hooks have run. */
interface Round {
  readonly refused?: () => void
  readonly done?: ReadonlySet<ManagedEntity>
  /** When the flush began: what one delete takes along has one time. */
  readonly now?: Date
}

type OnEnd = (end: () => void) => void

/** Ends writes that were planned and never answered, because others have failed. */
function endWrites(work: ChangeSet): void {
  for (const managed of work.saved) dropPlan(managed)
  for (const managed of work.removed) dropPlan(managed)
}

const isNotWritten = ({ state }: Outcome): boolean => state === 'notWritten'
const sendAll: SendAll = (parts, members, options) => new UnitOfWork(parts).some(members, options)
