import { Explanation } from '../plan/explain.js'
import type { Reader } from '../relations/contributor.js'
import { isDirty } from './dirty.js'
import { publishFlush } from './flush-event.js'
import { flushFailure } from './flush-failure.js'
import { gather } from './gather.js'
import { callAllHooks, hasHooks } from './hooks.js'
import type { Managed } from './managed.js'
import { planWork } from './plan-work.js'
import { hasDoubts, resolveDoubts } from './resolve-doubt.js'
import { runStages, type RunResult } from './run-stages.js'
import { callOptions, type SessionContext } from './session-context.js'
import type { SessionEntities } from './session-entities.js'
import { validateAll } from './validation.js'
import type { Work } from './work.js'

export interface FlushOptions {
  readonly signal?: AbortSignal
}

/** Finds what changed, plans it, sends it and takes over what became of it. Each step is a file of its own. */
export class UnitOfWork {
  readonly #context: SessionContext
  readonly #entities: SessionEntities
  readonly #reader: Reader

  constructor(context: SessionContext, entities: SessionEntities, reader: Reader) {
    this.#context = context
    this.#entities = entities
    this.#reader = reader
  }

  /** Everything in the session that changed. */
  flush(options: FlushOptions = {}): Promise<void> {
    return this.#run(() => this.#context.identity.filter(isDirty), options)
  }

  /** One entity, if it changed, and what it reaches. */
  one(managed: Managed, options: FlushOptions = {}): Promise<void> {
    return this.#run(() => (isDirty(managed) ? [managed] : []), options)
  }

  /** What flush would send, found out without running hooks, changing an entity or sending anything. */
  async explain(members: readonly Managed[]): Promise<Explanation> {
    const work = await gather(() => [...members], this.#entities, this.#reader, 'skip')
    const isInside = this.#context.transaction !== undefined
    const draft = await planWork(work, this.#reader, new Date(), { isTransaction: isInside, isInside })
    return new Explanation([draft.plan()])
  }

  async #run(scan: () => Managed[], options: FlushOptions): Promise<void> {
    const { signal } = options
    signal?.throwIfAborted()
    // Nothing is awaited without need: what is called now is sent as it is now.
    const gathered = gather(scan, this.#entities, this.#reader)
    const work = gathered instanceof Promise ? await gathered : gathered
    if (work.isEmpty) return
    if (hasDoubts(work)) await resolveDoubts(work, this.#context, signal)
    if (this.#context.validate) validateAll(work.saved)
    const began = performance.now()
    const isInside = this.#context.transaction !== undefined
    const planned = planWork(work, this.#reader, new Date(), { isTransaction: isInside, isInside })
    const draft = planned instanceof Promise ? await planned : planned
    if (draft.isEmpty) return
    const result = await runStages(draft, this.#context.driver, callOptions(this.#context, signal))
    const error = result.failed.length === 0 ? undefined : flushFailure(result, signal)
    publishFlush(result, performance.now() - began, error)
    await this.#runAfterHooks(work, result)
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- the reason of an abort is the caller's own
    if (error !== undefined) throw error
  }

  async #runAfterHooks(work: Work, { failed }: RunResult): Promise<void> {
    const unsaved = new Set(failed.map(({ command }) => command.key))
    const isDone = ({ key }: Managed): boolean => !unsaved.has(key)
    const saved = [...work.saved].filter(isDone)
    const removed = [...work.removed].filter(isDone)
    if (hasHooks('afterSave', saved)) await callAllHooks('afterSave', saved)
    if (hasHooks('afterDelete', removed)) await callAllHooks('afterDelete', removed)
  }
}
