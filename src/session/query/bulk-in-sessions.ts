import { readProperty, writeProperty } from '../../codec/index.js'
import { BulkStoppedError } from '../../errors/index.js'
import { describeKey, type KeyValue } from '../../keys/index.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { BulkChange } from '../../query/bulk-changes.js'
import type { BulkOptions } from '../../query/database-query.js'
import type { SessionQuery } from '../../query/session-query.js'
import type { Session } from '../session.js'
import { fateOf, isOfServer, type BulkFate } from './bulk-fate.js'

/** Entities of one step: each is read, changed and sent in a session of its own. */
const STEP = 100
/** Times that a step is tried again for the records that another writer changed meanwhile. */
const ATTEMPTS = 4

interface Bulk<T extends object> {
  readonly openSession: () => Session
  readonly query: (session: Session) => SessionQuery<T>
  readonly className: string
  readonly keyOf: (entity: T) => KeyValue
  readonly recordKeyOf: (entity: T) => RecordKey
  readonly changes: readonly BulkChange[] | 'delete'
  /** True where a session writes one entity after the other, because each may reach others. */
  readonly isOneByOne: boolean
  readonly signal: AbortSignal | undefined
}

interface Step {
  readonly written: number
  /** Entities that were not written. */
  readonly failed: readonly KeyValue[]
  readonly next: string | undefined
  /** The failure that ends the operation. */
  readonly stopped?: Stop
}

interface Stop {
  readonly cause: unknown
  /** Entities that may or may not be written. */
  readonly inDoubt: readonly KeyValue[]
  /** Entities that were written, while something that belongs to the write failed. */
  readonly incomplete: readonly KeyValue[]
  /** Entities whose write or delete has only begun. */
  readonly partlyWritten: readonly KeyValue[]
}

interface Failure {
  readonly error: unknown
  readonly fate: BulkFate
}

/** Changes or deletes what a query finds, step by step; after each one the cursor says where to go on. */
export async function bulkInSessions<T extends object>(
  bulk: Bulk<T>,
  { onProgress, after }: BulkOptions,
): Promise<{ written: number; failed: number }> {
  let written = 0
  let failed = 0
  for (let cursor = after; ;) {
    bulk.signal?.throwIfAborted()
    const step = await runStep(bulk, cursor)
    written += step.written
    failed += step.failed.length
    if (step.stopped) throw stoppedBy(step.stopped, bulk, { written, failed, keys: step.failed, cursor: step.next })
    await onProgress?.({ written, ...(step.next === undefined ? { share: 1 } : { cursor: step.next }) })
    if (step.next === undefined) return { written, failed }
    cursor = step.next
  }
}

/** Adds to the failure what was written; where nothing can have been written, the failure stays as it is. An abort is the caller's own. */
function stoppedBy<T extends object>(
  { cause, inDoubt, incomplete, partlyWritten }: Stop,
  { className, changes, signal }: Bulk<T>,
  progress: Pick<BulkStoppedError, 'written' | 'failed' | 'keys' | 'cursor'>,
): unknown {
  const { written, keys, cursor } = progress
  if (written + inDoubt.length + partlyWritten.length === 0 || signal?.aborted === true) return cause
  const halfDone = changes === 'delete' ? 'marked as being deleted' : 'written in part'
  const parts = [
    `stopped after it had written ${written} records${keys.length === 0 ? '' : `, but not ${keys.length} of the last step (${some(keys)})`}`,
    ...(inDoubt.length === 0 ? [] : [`${inDoubt.length} may or may not have been written (${some(inDoubt)})`]),
    ...(incomplete.length === 0
      ? []
      : [
          `${incomplete.length} were written, but a hook or a record that changes with them failed (${some(incomplete)})`,
        ]),
    ...(partlyWritten.length === 0
      ? []
      : [`${partlyWritten.length} were only begun and are ${halfDone} (${some(partlyWritten)})`]),
  ]
  const steps = [
    'Remove the cause',
    ...(keys.length === 0 ? [] : ['write the missing ones']),
    ...(inDoubt.length === 0 ? [] : ['load those in doubt to see what is stored']),
    ...(incomplete.length === 0 ? [] : ['complete the incomplete ones']),
    ...(partlyWritten.length === 0
      ? []
      : [
          changes === 'delete'
            ? `complete the deletes that were begun with db.sweep(${className})`
            : 'save those again that are written in part',
        ]),
    ...(cursor === undefined ? [] : ['and continue with { after: error.cursor }']),
  ]
  return new BulkStoppedError(`The bulk operation on ${className} ${parts.join('; ')}.`, {
    className,
    ...progress,
    inDoubt,
    incomplete,
    partlyWritten,
    cause,
    fix: `${steps.join(', ')}.`,
  })
}

const some = (keys: readonly KeyValue[]): string =>
  keys.slice(0, 3).map(describeKey).join(', ') + (keys.length > 3 ? ', …' : '')

/** Reads the step again as long as others were faster: what no longer meets the conditions is then left alone. */
async function runStep<T extends object>(bulk: Bulk<T>, after: string | undefined): Promise<Step> {
  const done = new Set<string>()
  let failed: readonly KeyValue[] = []
  let next = after
  for (let attempt = 1; ; attempt++) {
    const session = bulk.openSession()
    try {
      const page = await bulk.query(session).page({ count: STEP, after })
      ;({ next } = page)
      const left = page.filter((entity) => !done.has(describeKey(bulk.keyOf(entity))))
      const errors = await writeAll(bulk, session, left, done)
      const withFate = (...wanted: readonly BulkFate[]): KeyValue[] =>
        [...errors].filter(([, { fate }]) => wanted.includes(fate)).map(([entity]) => bulk.keyOf(entity))
      failed = withFate('notWritten', 'conflict')
      const stop = [...errors.values()].find(({ fate }) => fate !== 'conflict')
      if (stop !== undefined) {
        const [inDoubt, incomplete] = [withFate('inDoubt'), withFate('incomplete')]
        const stopped = { cause: stop.error, inDoubt, incomplete, partlyWritten: withFate('partlyWritten') }
        return { written: done.size, failed, next, stopped }
      }
      if (failed.length === 0 || attempt === ATTEMPTS) return { written: done.size, failed, next }
    } catch (cause) {
      return { written: done.size, failed, next, stopped: { cause, inDoubt: [], incomplete: [], partlyWritten: [] } }
    } finally {
      await session.close()
    }
  }
}

/** The failures by entity; what is gone meanwhile is left out. */
async function writeAll<T extends object>(
  { changes, keyOf, recordKeyOf, isOneByOne }: Bulk<T>,
  session: Session,
  entities: readonly T[],
  done: Set<string>,
): Promise<Map<T, Failure>> {
  const errors = new Map<T, Failure>()
  // The others of the step would wait for the same server, each for as long as the first.
  const stop = new AbortController()
  const options = isOneByOne ? { signal: stop.signal } : undefined
  const write = async (entity: T): Promise<void> => {
    try {
      if (changes === 'delete') await session.delete(entity, options)
      else await session.save(changed(entity, changes), options)
      done.add(describeKey(keyOf(entity)))
    } catch (error) {
      const fate = fateOf(entity, recordKeyOf(entity), error)
      if (fate !== 'gone') errors.set(entity, { error, fate })
      if (isOfServer(error)) stop.abort(error)
      if (fate === 'incomplete') done.add(describeKey(keyOf(entity)))
    }
  }
  await Promise.all(entities.map(write))
  return errors
}

function changed<T extends object>(entity: T, changes: readonly BulkChange[]): T {
  for (const { property, value, increment } of changes) {
    writeProperty(entity, property, increment === undefined ? value : sum(readProperty(entity, property), increment))
  }
  return entity
}

function sum(stored: unknown, by: number | bigint): number | bigint {
  return typeof by === 'bigint' ? BigInt((stored as bigint | undefined) ?? 0n) + by : Number(stored ?? 0) + by
}
