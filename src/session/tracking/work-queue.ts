import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { WorkCount } from '../context/activity.js'
import type { EntityWork } from './entity-work.js'
import type { ManagedEntity } from './managed-entity.js'

/** Work asked for between two flushes, under way or waiting: the second flush waits for all of it. */
class WorkSpan {
  #count = 0
  #onEmpty: (() => void)[] | undefined

  get isEmpty(): boolean {
    return this.#count === 0
  }

  begin(): void {
    this.#count++
  }

  end(): void {
    if (--this.#count > 0) return
    const waiting = this.#onEmpty
    this.#onEmpty = undefined
    waiting?.forEach((wake) => wake())
  }

  async ended(): Promise<void> {
    if (!this.isEmpty) await new Promise<void>((wake) => (this.#onEmpty ??= []).push(wake))
  }
}

/** Work on one entity, for those who wait for its end; most often nobody does. */
export class QueuedWork implements EntityWork {
  readonly span: WorkSpan
  #ended: Promise<void> | undefined
  #end: (() => void) | undefined

  constructor(span: WorkSpan) {
    this.span = span
  }

  get ended(): Promise<void> {
    return (this.#ended ??= new Promise((resolve) => (this.#end = resolve)))
  }

  end(): void {
    this.#end?.()
  }
}

/**
 * Keeps work apart: work on one entity waits for earlier work on it, and a flush waits for all and lets all wait. The order is that
 * of the calls: whatever waits is counted from the call on, so that nothing asked for later can begin beside it.
 */
export class WorkQueue {
  readonly #activity: WorkCount
  /** The latest flush that is under way or waits; what is asked for after it waits for it. */
  #barrier: Promise<unknown> | undefined
  /** Work asked for since then. */
  #span = new WorkSpan()
  /** Work on records that the session has no entity of: it waits for no flush, because none has begun that knows them. */
  readonly #onRecords = new WorkSpan()
  #records: Map<string, QueuedWork> | undefined

  constructor(activity: WorkCount) {
    this.#activity = activity
  }

  /** Work on the whole session. */
  runAlone<T>(work: () => Promise<T>): Promise<T> {
    this.#activity.begin()
    const [before, earlier] = [this.#barrier, this.#span]
    const isFree = before === undefined && earlier.isEmpty && this.#onRecords.isEmpty
    this.#span = new WorkSpan()
    const result = isFree ? started(work) : this.#after(before, earlier, work)
    this.#barrier = result
    const end = (): void => {
      if (this.#barrier === result) this.#barrier = undefined
      this.#activity.end()
    }
    result.then(end, end)
    return result
  }

  /** Work on one entity. */
  runOn<T>(managed: ManagedEntity, work: () => Promise<T>): Promise<T> {
    const before = this.#before(managed)
    const queued = this.beginOne(managed)
    const result = before === undefined ? started(work) : before.then(work, work)
    const end = (): void => this.endOne(managed, queued)
    result.then(end, end)
    return result
  }

  /** True when nothing is under way. */
  get isIdle(): boolean {
    return this.#barrier === undefined && this.#span.isEmpty && this.#onRecords.isEmpty
  }

  /** True when work on the entity need not wait. */
  isFree(managed: ManagedEntity): boolean {
    return this.#barrier === undefined && managed.queued === undefined && this.#workOnRecord(managed) === undefined
  }

  /** End of what work on the entity would have to wait for; undefined where it need not. */
  endBefore(managed: ManagedEntity): Promise<unknown> | undefined {
    return this.#before(managed)?.then(ignore, ignore)
  }

  /** End of work on the record of the entity that was begun without it. */
  endOnRecord(managed: ManagedEntity): Promise<void> | undefined {
    return this.#workOnRecord(managed)?.ended
  }

  /** Work on one entity that is free, by someone who says when it ends. */
  beginOne(managed: ManagedEntity): QueuedWork {
    this.#activity.begin()
    this.#span.begin()
    return managed.begin(new QueuedWork(this.#span))
  }

  endOne(managed: ManagedEntity, queued: QueuedWork): void {
    managed.end(queued)
    this.#end(queued)
  }

  /** Work on a record that the session has no entity of; it says when it ends. An entity that gets its key meanwhile waits for it. */
  onRecord(key: RecordKey, work: (end: () => void) => void): void {
    this.#activity.begin()
    this.#onRecords.begin()
    const records = (this.#records ??= new Map<string, QueuedWork>())
    const id = recordId(key)
    const before = records.get(id)?.ended
    const queued = new QueuedWork(this.#onRecords)
    records.set(id, queued)
    const begin = (): void =>
      work(() => {
        if (records.get(id) === queued) records.delete(id)
        this.#end(queued)
      })
    if (before === undefined) begin()
    else void before.then(begin)
  }

  /** Runs work on a record that ends with its promise. */
  runOnRecord<T>(key: RecordKey, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) =>
      this.onRecord(key, (end) => void started(work).then(resolve, reject).finally(end)),
    )
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#barrier !== undefined || !this.#span.isEmpty || !this.#onRecords.isEmpty)
      await this.#after(this.#barrier, this.#span, () => Promise.resolve())
  }

  /** Runs work once the flush has ended, and what was asked for after it. */
  async #after<T>(flush: Promise<unknown> | undefined, span: WorkSpan, work: () => Promise<T>): Promise<T> {
    await flush?.catch(ignore)
    await span.ended()
    while (!this.#onRecords.isEmpty) await this.#onRecords.ended()
    return work()
  }

  #before(managed: ManagedEntity): Promise<unknown> | undefined {
    // The flush waits for earlier work on the entity, and later work on it for the flush: only the last of them matters.
    const before = managed.queued?.span === this.#span ? managed.queued.ended : this.#barrier
    const record = this.#workOnRecord(managed)?.ended
    return before === undefined ? record : record === undefined ? before : Promise.allSettled([before, record])
  }

  #workOnRecord({ key }: ManagedEntity): QueuedWork | undefined {
    return this.#records === undefined || this.#records.size === 0 ? undefined : this.#records.get(recordId(key))
  }

  #end(queued: QueuedWork): void {
    queued.end()
    queued.span.end()
    this.#activity.end()
  }
}

function ignore(): void {}

/** Begins work at once; what it throws before its first await ends it like a rejection, so that nobody waits for it for ever. */
function started<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work()
  } catch (error) {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as it was thrown
    return Promise.reject(error)
  }
}
